"""The rest of the chat document, by openapi-python-client, and the order of all."""

import specd_chat_client.models as of
from chat_python_client import (
    CORDELIA,
    HAMLET,
    NOBODY,
    OTHELLO_AGAIN,
    PEOPLE,
    done,
    read,
    refused,
    unknown,
)
from chat_python_client_messages import channel_folders, channels, messages, scheduled_messages
from chat_python_client_people import organization, profile_fields, settings, sign_in, users
from facts import FACTS
from specd_chat_client import Client
from specd_chat_client.api.calls import (
    begin_vendor_authorization,
    complete_vendor_authorization,
    create_video_call,
    create_zoom_call,
    get_vendor_token_state,
    receive_vendor_notice,
    revoke_vendor_token,
)
from specd_chat_client.api.domains import (
    create_domain,
    delete_domain,
    list_domains,
    update_domain,
)
from specd_chat_client.api.exports import (
    create_export,
    delete_export,
    list_export_consents,
    list_exports,
)
from specd_chat_client.api.linkifiers import (
    create_linkifier,
    delete_linkifier,
    list_linkifiers,
    reorder_linkifiers,
    update_linkifier,
)
from specd_chat_client.api.mobile_push import (
    list_own_devices,
    register_client_device,
    register_push_device,
    remove_client_device,
    send_test_push_notification,
)
from specd_chat_client.api.playgrounds import create_playground, delete_playground
from specd_chat_client.api.users import deactivate_own_user, get_own_user, regenerate_own_api_key


def mobile_push() -> None:
    to_all = of.SendTestPushNotificationParameters()
    assert refused(send_test_push_notification, body=to_all) == "NO_ACTIVE_PUSH_DEVICE"
    device = read(of.RegisteredDevice, register_client_device).device_id
    phone = of.RegisterPushDeviceParameters.from_dict({"device_id": device, **FACTS["push"]})
    done(register_push_device, body=phone)
    known = read(of.DeviceList, list_own_devices).devices[str(device)]
    assert known.push_key_id == FACTS["push"]["push_key_id"]
    assert known.push_registration_error_code is None
    done(send_test_push_notification, body=of.SendTestPushNotificationParameters(device))
    done(remove_client_device, body=of.RemoveClientDeviceParameters(device))
    unknown(list_own_devices)


def calls() -> None:
    vendor, notice = FACTS["vendor"], FACTS["vendor_notice"]
    meeting = of.CreateZoomCallParameters(is_video_call=True)
    assert refused(create_zoom_call, body=meeting) == "INVALID_ZOOM_TOKEN"
    assert "/calls/vendor/register?link=" in read(of.Call, begin_vendor_authorization).url
    browser = Client(base_url=FACTS["base_url"], headers={"Cookie": vendor["cookie"]})
    back = {"code": vendor["code"], "state": vendor["state"]}
    done(complete_vendor_authorization, by=browser, **back)
    assert read(of.VendorTokenState, get_vendor_token_state).has_vendor_token is True
    assert read(of.Call, create_video_call, body=of.CreateCallParameters(False)).url
    assert read(of.Call, create_zoom_call, body=meeting).url
    done(revoke_vendor_token)
    token = {"Authorization": notice["authorization"]}
    withdrawn = of.VendorNotice(
        event="app_deauthorized", payload=of.VendorNoticePayload(user_id=notice["user_id"])
    )
    by_vendor = Client(base_url=FACTS["base_url"], headers=token)
    done(receive_vendor_notice, by=by_vendor, body=withdrawn)
    unknown(get_vendor_token_state)


def linkifiers() -> None:
    issue = of.LinkifierParameters("#(?P<id>[0-9]+)", "https://issues.example/{id}")
    ticket = of.LinkifierParameters("T(?P<id>[0-9]+)", "https://tickets.example/{id}")
    first = read(of.LinkifierCreated, create_linkifier, by=CORDELIA, body=issue).id
    second = read(of.LinkifierCreated, create_linkifier, by=CORDELIA, body=ticket).id
    ticket.example_input = "T12"
    done(update_linkifier, second, by=CORDELIA, body=ticket)
    order = of.ReorderLinkifiersParameters(ordered_linkifier_ids=[second, first])
    done(reorder_linkifiers, by=CORDELIA, body=order)
    listed = read(of.LinkifierList, list_linkifiers).linkifiers
    assert [(found.id, found.example_input) for found in listed] == [(second, "T12"), (first, None)]
    done(delete_linkifier, first, by=CORDELIA)
    unknown(list_linkifiers)
    assert refused(delete_linkifier, first, by=CORDELIA) == "BAD_REQUEST"


def playgrounds() -> None:
    playground = of.CreatePlaygroundParameters(
        name="Try it", syntax_language="Python", url_template="https://try.example/{code}"
    )
    made = read(of.PlaygroundCreated, create_playground, by=CORDELIA, body=playground).id
    done(delete_playground, made, by=CORDELIA)
    unknown(delete_playground, made)
    assert refused(delete_playground, made, by=CORDELIA) == "BAD_REQUEST"


def domains() -> None:
    name = "elsinore.example"
    domain = of.CreateDomainParameters(domain=name, allow_subdomains=False)
    made = read(of.DomainCreated, create_domain, by=CORDELIA, body=domain).new_domain
    assert made[1] == name
    done(update_domain, name, by=CORDELIA, body=of.UpdateDomainParameters(allow_subdomains=True))
    (listed,) = read(of.DomainList, list_domains).domains
    assert (listed.domain, listed.allow_subdomains) == (name, True)
    done(delete_domain, name, by=CORDELIA)
    unknown(list_domains)
    assert refused(delete_domain, name, by=CORDELIA) == "BAD_REQUEST"


def exports() -> None:
    public = of.CreateExportParameters(export_type=of.ExportType.PUBLIC)
    made = read(of.ExportCreated, create_export, by=CORDELIA, body=public).id
    listed = {each.id: each for each in read(of.ExportList, list_exports, by=CORDELIA).exports}
    assert listed[made].pending is True
    assert listed[FACTS["finished_export_id"]].export_url
    consents = read(of.ExportConsentList, list_export_consents, by=CORDELIA).export_consents
    assert {each.user_id: each.consented for each in consents}[PEOPLE["hamlet"]["id"]] is False
    done(delete_export, FACTS["finished_export_id"], by=CORDELIA)
    unknown(list_exports)
    assert refused(delete_export, made, by=CORDELIA) == "BAD_REQUEST"
    assert refused(list_exports, by=NOBODY) == "UNAUTHORIZED"


sign_in()
users()
profile_fields()
settings()
organization()
channel_folders()
messages(channels())
scheduled_messages()
mobile_push()
calls()
linkifiers()
playgrounds()
domains()
exports()
done(deactivate_own_user, by=OTHELLO_AGAIN)
assert len(read(of.NewApiKey, regenerate_own_api_key).api_key) == 32
assert refused(get_own_user, by=HAMLET) == "UNAUTHORIZED"
