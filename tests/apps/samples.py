"""Orders as each app's documents and test tools show them, with every member that they name, and forms that strangers'
clients and tests have met. Written after their lists of fields. Texts are replaced by words (test_nothing_is_dropped.py)."""

import copy
import uuid

from support.order_app import ifood_order, keeta_order, open_delivery_order, rappi_order


def ifood_full():
    """A delivery with everything: combos of three levels, fees, benefits with campaigns, cash at the door."""
    order = ifood_order(0)
    order["extraInfo"] = "text"
    order["merchant"] |= {"name": "text"}
    order["customer"] |= {"ordersCountOnMerchant": 4, "segmentation": "text"}
    order["customer"]["phone"]["localizerExpiration"] = "2026-11-25T16:00:00Z"
    order["items"][0] |= {"uniqueId": "text", "ean": "text", "imageUrl": "text", "type": "text", "groupId": "text"}
    order["items"][0]["options"][0] |= {  # with the menu's code it would have the menu's group
        "externalCode": "none", "ean": "text", "groupName": "text", "observations": "text", "customizations": [
            {"id": "c1", "name": "text", "groupName": "text", "externalCode": "text", "type": "text", "unit": "text",
             "quantity": 1, "unitPrice": 0, "addition": 0, "price": 0}]}
    order["benefits"] = [{"value": 5, "target": "CART", "targetId": "text",
                          "campaign": {"id": "text", "name": "text"},
                          "sponsorshipValues": [{"name": "text", "value": 3, "description": "text"},
                                                {"name": "text", "value": 2}]}]
    order["additionalFees"] = [{"type": "text", "description": "text", "fullDescription": "text", "value": 1,
                                "liabilities": [{"name": "text", "percentage": 100}]}]
    order["payments"] = {"prepaid": 0, "pending": 60.8, "methods": [
        {"value": 60.8, "currency": "BRL", "method": "CASH", "type": "OFFLINE", "prepaid": False, "cash": {"changeFor": 100},
         "card": {"brand": "text"}, "wallet": {"name": "text"}, "transaction": {"authorizationCode": "text"}}]}
    order["delivery"] |= {"pickupCode": "text", "deliveryDateTime": "2026-11-25T13:00:00Z", "description": "text"}
    order["delivery"]["deliveryAddress"] |= {"reference": "text", "postalCode": "text", "state": "text", "country": "text"}
    order["picking"] = {"picker": "text", "replacementOptions": "text"}
    order["additionalInfo"] = {"metadata": {"developerId": "text"}}
    return order


def ifood_inside():
    return {**ifood_order(0), "orderType": "DINE_IN", "delivery": None, "dineIn": {"deliveryDateTime": "2026-11-25T13:00:00Z",
            "observations": "text"}, "indoor": {"mode": "TABLE", "table": "text", "place": "text", "observations": "text"}}


def ifood_takeout():
    return {**ifood_order(0), "orderType": "TAKEOUT", "delivery": None,
            "takeout": {"mode": "DEFAULT", "takeoutDateTime": "2026-11-25T13:00:00Z", "pickupCode": "text", "observations": "text"}}


def ifood_of_a_pos_tester():
    """A benefit in the list and none in the total."""
    order = ifood_order(0)
    order["total"] |= {"benefits": 0, "orderAmount": 65.8}
    order["benefits"][0]["sponsorshipValues"] = []  # it lessens nothing, and has no words
    return order


def open_delivery_full():
    order = open_delivery_order(0)
    order |= {"extraInfo": "text", "category": "text", "sourceAppId": "text"}
    order["merchant"]["name"] = "text"
    order["customer"] |= {"documentNumber": "text", "email": "text"}
    order["customer"]["phone"]["extension"] = "text"
    order["items"][0] |= {"ean": "text", "imageUrl": "text", "originalPrice": {"value": 20, "currency": "BRL"}}
    order["items"][0]["options"][0] |= {"ean": "text", "specialInstructions": "text", "index": 0}
    order["otherFees"][1] |= {"name": "text", "observation": "text", "receiverDocument": "text"}
    order["discounts"][0] |= {"targetId": "text"}
    order["discounts"][0]["sponsorshipValues"] = [
        {"name": "text", "amount": {"value": 3, "currency": "BRL"}, "description": "text"},
        {"name": "text", "amount": {"value": 2, "currency": "BRL"}}]
    order["payments"] = {"prepaid": 0, "pending": 60.8, "methods": [
        {"value": 60.8, "currency": "BRL", "type": "PENDING", "method": "CREDIT", "brand": "text", "methodInfo": "text",
         "transaction": {"authorizationCode": "text"}}]}
    order["delivery"] |= {"pickupCode": "text", "observations": "text"}
    order["delivery"]["deliveryAddress"] |= {"reference": "text", "complement": "text"}
    return order


def open_delivery_inside():
    return {**open_delivery_order(0), "type": "INDOOR", "delivery": None,
            "indoor": {"mode": "TAB", "place": "text", "tab": "text", "indoorDateTime": "2026-11-25T13:00:00Z"}}


def open_delivery_of_a_hub():
    """From tests of a fiscal library: an option with the quantity 0, a fee that the app keeps for itself."""
    def price(value):
        return {"value": value, "currency": "BRL"}
    order = open_delivery_order(0)
    order["items"] = [{"id": "i1", "name": "text", "quantity": 1, "unit": "UNIT", "unitPrice": price(10), "totalPrice": price(10),
                       "options": [{"id": "o1", "name": "text", "externalCode": "text", "unit": "UNIT", "quantity": 0,
                                    "unitPrice": {"value": 0, "currency": None}, "totalPrice": price(0),
                                    "specialInstructions": ""}]}]
    order["otherFees"] = [{"name": "text", "type": "SERVICE_FEE", "receivedBy": "MARKETPLACE", "price": price(3)}]
    order["discounts"] = []
    order["total"] = {"itemsPrice": price(10), "otherFees": price(3), "discount": price(0), "orderAmount": price(10)}
    order["payments"]["prepaid"] = 10
    return order


def open_delivery_without_lists():
    """Fees and discounts in the total alone."""
    return {**open_delivery_order(0), "otherFees": [], "discounts": []}


def rappi_full():
    order = rappi_order(0)
    detail = order["order_detail"]
    detail |= {"min_cooking_time": 5, "max_cooking_time": 20, "delivery_operation_type": "text", "place_at": None,
               "billing_information": {"billing_type": "text", "name": "text", "address": "text", "phone": "text",
                                       "email": "text", "document_type": "text", "document_number": "text"},
               "delivery_discount": {"total_percentage_discount": 0, "total_value_discount": 0},
               "vendors": [{"name": "text"}]}
    detail["delivery_information"]["street_number"] = "text"
    detail["items"][0]["subitems"][0] |= {"comments": "text", "categoryDescription": "text", "toppingCategoryId": "text"}
    detail["discounts"][0] |= {"type": "text", "sku": "text", "value_type": "text"}
    order["customer"] |= {"email": "text", "document_number": "text"}
    order["store"]["name"] = "text"
    return order


def rappi_of_the_pos_tester():
    """Its discount has no words: Rappi pays it, it lessens nothing, and the record has none of 0."""
    order = rappi_order(0, total_products=18, total_discounts=3, total_order=18, charges={"shipping": 3, "service_fee": 5.9})
    order["order_detail"] |= {"delivery_information": None, "discounts": [
        {"title": "", "description": "", "type": "free_shipping", "value": 3, "amount_by_rappi": 0, "amount_by_partner": 0}]}
    order["order_detail"]["items"] = [{"id": "p", "sku": "text", "name": "text", "type": "product", "quantity": 1, "price": 18,
                                       "comments": "", "subitems": []}]
    order["customer"] = {"first_name": "text"}
    return order


def rappi_with_a_shared_discount():
    """From a stranger's tests: the total is the products less the whole discount, with the shipping."""
    order = rappi_order(0, total_products=18, total_discounts=3, total_order=16, total_discount_by_partner=1,
                        charges={"shipping": 1})
    order["order_detail"]["items"] = [{"id": "p", "sku": "text", "name": "text", "type": "PRODUCT", "quantity": 1, "price": 18,
                                       "comments": "text", "subitems": []}]
    order["order_detail"]["discounts"] = [{"title": "text", "description": "text", "type": "campaign", "value": 3,
                                           "amount_by_rappi": 2, "amount_by_partner": 1}]
    return order


def rappi_bare():
    """A first order of a test shop: no customer, no address."""
    order = rappi_order(0)
    order["order_detail"] |= {"delivery_information": None, "discounts": [], "billing_information": None}
    order["order_detail"]["totals"] |= {"total_discounts": 0, "total_order": 55.8}
    order["customer"] = None
    return order


SAMPLES = {
    "ifood": [ifood_full, ifood_inside, ifood_takeout, ifood_of_a_pos_tester],
    "99food": [open_delivery_full, open_delivery_inside, open_delivery_of_a_hub, open_delivery_without_lists],
    "keeta": [lambda: keeta_order(0), open_delivery_full],
    "rappi": [rappi_full, rappi_of_the_pos_tester, rappi_with_a_shared_discount, rappi_bare]}


def numbered(name, order, number):
    """The order under an id of its own."""
    order = copy.deepcopy(order)
    if name == "rappi":
        order["order_detail"]["order_id"] = str(number)
    else:
        order |= {"id": str(uuid.UUID(int=number)), "displayId": f"{number:04}"}
    return order
