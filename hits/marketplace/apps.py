from django.apps import AppConfig


class MarketplaceConfig(AppConfig):
    name = "hits.marketplace"
    label = "marketplace"
    verbose_name = "Marketplace"
