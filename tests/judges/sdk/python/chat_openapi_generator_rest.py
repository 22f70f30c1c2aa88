"""The operations of the chat document that `chat_openapi_generator` has left, and its order."""

import time

import specd_chat as sdk
from chat_openapi_generator import (
    channels,
    messages,
    profile_fields,
    realm,
    settings,
    sign_in,
    users,
)
from chat_openapi_generator_client import (
    CORDELIA,
    HAMLET,
    NOBODY,
    OTHELLO_AGAIN,
    PEOPLE,
    bad,
    done,
    refusal,
    unknown,
)
from facts import FACTS
from specd_chat.exceptions import NotFoundException


def scheduled_messages() -> None:
    api, othello = sdk.ScheduledMessagesApi(HAMLET), PEOPLE["othello"]["id"]
    later = int(time.time()) + 3600
    made = api.create_scheduled_message(
        sdk.CreateScheduledMessageParameters(
            type="direct",
            to=sdk.ScheduledTo([othello]),
            content="Remember me.",
            scheduled_delivery_timestamp=later,
        )
    ).scheduled_message_id
    change = sdk.UpdateScheduledMessageParameters(content="Adieu, adieu.")
    done(api.update_scheduled_message(made, change))
    (waiting,) = api.list_scheduled_messages().scheduled_messages
    assert (waiting.content, waiting.failed) == ("Adieu, adieu.", False)
    assert waiting.to.actual_instance == [othello]
    done(api.delete_scheduled_message(made))
    unknown(sdk.ScheduledMessagesApi(NOBODY).list_scheduled_messages)
    code = refusal(api.delete_scheduled_message, made, error=NotFoundException)
    assert code == "BAD_REQUEST"


def mobile_push() -> None:
    api = sdk.MobilePushApi(HAMLET)
    assert bad(api.send_test_push_notification) == "NO_ACTIVE_PUSH_DEVICE"
    device = api.register_client_device().device_id
    done(
        api.register_push_device(
            sdk.RegisterPushDeviceParameters(device_id=device, **FACTS["push"])
        )
    )
    known = api.list_own_devices().devices[str(device)]
    assert known.push_key_id == FACTS["push"]["push_key_id"]
    assert known.push_registration_error_code is None
    done(api.send_test_push_notification(sdk.SendTestPushNotificationParameters(device_id=device)))
    done(api.remove_client_device(sdk.RemoveClientDeviceParameters(device_id=device)))
    unknown(sdk.MobilePushApi(NOBODY).list_own_devices)


def calls() -> None:
    api, vendor = sdk.CallsApi(HAMLET), FACTS["vendor"]
    assert bad(api.create_zoom_call) == "INVALID_ZOOM_TOKEN"
    assert "/calls/vendor/register?link=" in api.begin_vendor_authorization().url
    done(
        sdk.CallsApi(NOBODY).complete_vendor_authorization(
            code=vendor["code"], state=vendor["state"], _headers={"Cookie": vendor["cookie"]}
        )
    )
    assert api.get_vendor_token_state().has_vendor_token is True
    assert api.create_video_call(sdk.CreateCallParameters(is_video_call=False)).url
    assert api.create_zoom_call(sdk.CreateZoomCallParameters(is_video_call=True)).url
    done(api.revoke_vendor_token())
    notice = sdk.VendorNotice(
        event="app_deauthorized",
        payload=sdk.VendorNoticePayload(user_id=FACTS["vendor_notice"]["user_id"]),
    )
    headers = {"Authorization": FACTS["vendor_notice"]["authorization"]}
    plain = sdk.ApiClient(sdk.Configuration(host=FACTS["base_url"]))
    done(sdk.CallsApi(plain).receive_vendor_notice(notice, _headers=headers))
    unknown(sdk.CallsApi(NOBODY).get_vendor_token_state)


def linkifiers() -> None:
    api, playgrounds = sdk.LinkifiersApi(CORDELIA), sdk.PlaygroundsApi(CORDELIA)
    issue = sdk.LinkifierParameters(
        pattern="#(?P<id>[0-9]+)", url_template="https://issues.example/{id}"
    )
    ticket = sdk.LinkifierParameters(
        pattern="T(?P<id>[0-9]+)", url_template="https://tickets.example/{id}"
    )
    first, second = api.create_linkifier(issue).id, api.create_linkifier(ticket).id
    done(api.update_linkifier(second, ticket.model_copy(update={"example_input": "T12"})))
    order = sdk.ReorderLinkifiersParameters(ordered_linkifier_ids=[second, first])
    done(api.reorder_linkifiers(order))
    listed = api.list_linkifiers().linkifiers
    assert [(found.id, found.example_input) for found in listed] == [(second, "T12"), (first, None)]
    done(api.delete_linkifier(first))
    unknown(sdk.LinkifiersApi(NOBODY).list_linkifiers)
    assert bad(api.delete_linkifier, first) == "BAD_REQUEST"
    made = playgrounds.create_playground(
        sdk.CreatePlaygroundParameters(
            name="Try it", syntax_language="Python", url_template="https://try.example/{code}"
        )
    ).id
    done(playgrounds.delete_playground(made))
    unknown(sdk.PlaygroundsApi(NOBODY).delete_playground, made)
    assert bad(playgrounds.delete_playground, made) == "BAD_REQUEST"


def domains() -> None:
    api = sdk.DomainsApi(CORDELIA)
    made = api.create_domain(
        sdk.CreateDomainParameters(domain="elsinore.example", allow_subdomains=False)
    ).new_domain
    assert made[1].actual_instance == "elsinore.example"
    change = sdk.UpdateDomainParameters(allow_subdomains=True)
    done(api.update_domain("elsinore.example", change))
    (listed,) = api.list_domains().domains
    assert (listed.domain, listed.allow_subdomains) == ("elsinore.example", True)
    done(api.delete_domain("elsinore.example"))
    unknown(sdk.DomainsApi(NOBODY).list_domains)
    assert bad(api.delete_domain, "elsinore.example") == "BAD_REQUEST"


def exports() -> None:
    api, finished = sdk.ExportsApi(CORDELIA), FACTS["finished_export_id"]
    made = api.create_export(sdk.CreateExportParameters(export_type=sdk.ExportType.PUBLIC)).id
    listed = {export.id: export for export in api.list_exports().exports}
    assert listed[made].pending is True
    assert listed[finished].export_url
    consents = {each.user_id: each.consented for each in api.list_export_consents().export_consents}
    assert consents[PEOPLE["hamlet"]["id"]] is False
    done(api.delete_export(finished))
    unknown(sdk.ExportsApi(NOBODY).list_exports)
    assert bad(api.delete_export, made) == "BAD_REQUEST"


sign_in()
users()
profile_fields()
settings()
realm()
messages(channels())
scheduled_messages()
mobile_push()
calls()
linkifiers()
domains()
exports()
done(sdk.UsersApi(OTHELLO_AGAIN).deactivate_own_user())
assert len(sdk.UsersApi(HAMLET).regenerate_own_api_key().api_key) == 32
unknown(sdk.UsersApi(HAMLET).get_own_user)
