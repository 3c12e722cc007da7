"""Devices that ask to be let in, for tests that send every example of the API's document."""

import json


class Devices:
    """Those that the examples of letting devices in need: two of one address may ask at once. `api` manages keys."""

    def __init__(self, api):
        self.api, self.asked = api, None

    def ask(self):
        self.asked = self.api.post("/auth/pair/requests", {"role": "kitchen", "name": "Tablet"}).data
        return self.asked["number"]

    def stage(self, operation, staged, body):
        if operation.id == "acceptDevice":
            return staged, {**body, "number": self.ask()}
        if operation.id == "refuseDevice":
            return {**staged, "number": self.ask()}, body
        if operation.id == "shutDeviceOut":
            accepted = self.api.post("/box/devices/accept", {"number": self.ask(), "role": "kitchen", "name": "Tablet"})
            return {**staged, "keyId": accepted.data["id"]}, body
        return staged, body

    def clean(self, operation, answer):
        if operation.id == "askToBeLetIn":
            self.asked = json.loads(answer.body).get("data")
        if self.asked and self.api.post("/auth/pair", {"request": self.asked["request"]}).status == 200:
            self.api.delete(f"/box/devices/requests/{self.asked['number']}")
