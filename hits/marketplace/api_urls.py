from django.urls import path

from hits.marketplace.api import requester_api

urlpatterns = [path("", requester_api)]
