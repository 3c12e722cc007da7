from api.conftest import box, demo, key  # noqa: F401
