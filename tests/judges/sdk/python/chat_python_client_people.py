"""People and the organization, by openapi-python-client."""

import specd_chat_client.models as of
from chat_python_client import (
    CORDELIA,
    HAMLET,
    NOBODY,
    PEOPLE,
    asking,
    done,
    read,
    refused,
    unknown,
)
from facts import FACTS
from specd_chat_client.api.profile_fields import (
    create_profile_field,
    delete_profile_field,
    list_profile_fields,
    reorder_profile_fields,
    update_profile_field,
)
from specd_chat_client.api.realm import update_realm
from specd_chat_client.api.server_settings import get_server_settings
from specd_chat_client.api.settings import (
    confirm_new_email,
    get_email_confirmation,
    update_settings,
)
from specd_chat_client.api.sign_in import dev_fetch_api_key, fetch_api_key, jwt_fetch_api_key
from specd_chat_client.api.user_groups import create_user_group, list_user_groups
from specd_chat_client.api.users import (
    clear_own_profile_data,
    create_user,
    deactivate_user,
    get_own_user,
    get_user,
    get_user_by_email,
    get_user_status,
    list_users,
    reactivate_user,
    update_own_profile_data,
    update_own_status,
    update_user,
)


def sign_in() -> None:
    server = read(of.ServerSettings, get_server_settings, by=NOBODY)
    assert (server.zulip_feature_level, server.realm_name) == (478, "Acme")
    hamlet = PEOPLE["hamlet"]
    name = of.FetchApiKeyParameters(username=hamlet["email"], password=FACTS["password"])
    by_password = read(of.ApiKey, fetch_api_key, by=NOBODY, body=name)
    assert (by_password.api_key, by_password.user_id) == (hamlet["key"], hamlet["id"])
    name = of.DevFetchApiKeyParameters(username=hamlet["email"])
    assert read(of.ApiKey, dev_fetch_api_key, by=NOBODY, body=name).api_key == hamlet["key"]
    signed = of.JwtFetchApiKeyParameters(token=FACTS["jwt"], include_profile=True)
    by_token = read(of.TokenApiKey, jwt_fetch_api_key, by=NOBODY, body=signed)
    assert isinstance(by_token.user, of.User)
    assert (by_token.api_key, by_token.user.full_name) == (hamlet["key"], "Hamlet")
    wrong = of.FetchApiKeyParameters(username=hamlet["email"], password="wrong")
    assert refused(fetch_api_key, by=NOBODY, body=wrong) == "AUTHENTICATION_FAILED"
    signed = of.JwtFetchApiKeyParameters(token="x")
    assert refused(jwt_fetch_api_key, by=NOBODY, body=signed) == "BAD_REQUEST"


def users() -> None:
    hamlet, othello = PEOPLE["hamlet"], PEOPLE["othello"]
    me = read(of.OwnUser, get_own_user)
    assert (me.user_id, me.full_name, me.role) == (hamlet["id"], "Hamlet", of.Role.MEMBER)
    members = read(of.UserList, list_users).members
    assert othello["id"] in [user.user_id for user in members]
    both = [hamlet["id"], othello["id"]]
    members = read(of.UserList, list_users, by=asking(user_ids=both)).members
    assert [user.user_id for user in members] == both
    assert read(of.OneUser, get_user, othello["id"]).user.full_name == "Othello"
    found = read(of.OneUser, get_user_by_email, othello["email"]).user
    assert found.user_id == othello["id"]
    assert found.bot_type is None
    done(update_own_status, body=of.UpdateOwnStatusParameters(status_text="Reading"))
    status = read(of.OneUserStatus, get_user_status, hamlet["id"]).status
    assert status.status_text == "Reading"
    yorick = of.CreateUserParameters(
        email="yorick@acme.example", password="alas poor yorick!", full_name="Yorick"
    )
    made = read(of.UserCreated, create_user, by=CORDELIA, body=yorick).user_id
    changes = of.UpdateUserParameters(full_name="Poor Yorick", role=of.Role.MODERATOR)
    done(update_user, made, by=CORDELIA, body=changes)
    assert read(of.OneUser, get_user, made).user.role == of.Role.MODERATOR
    actions = of.AccountDeletion(delete_profile=False, delete_direct_messages=True)
    farewell = of.DeactivateUserParameters(actions=actions)
    done(deactivate_user, made, by=CORDELIA, body=farewell)
    assert read(of.OneUser, get_user, made).user.is_active is False
    done(reactivate_user, made, by=CORDELIA)
    unknown(get_own_user)
    assert refused(get_user, 999_999) == "BAD_REQUEST"
    assert refused(deactivate_user, othello["id"], body=farewell) == "BAD_REQUEST"


def profile_fields() -> None:
    choices = of.ProfileFieldData.from_dict({"0": {"text": "Vim", "order": "1"}})
    field = of.CreateProfileFieldParameters(name="Editor", field_type=3, field_data=choices)
    editor = read(of.ProfileFieldCreated, create_profile_field, by=CORDELIA, body=field).id
    field = of.CreateProfileFieldParameters(name="Title", field_type=1, hint="Prince?")
    title = read(of.ProfileFieldCreated, create_profile_field, by=CORDELIA, body=field).id
    hint = of.UpdateProfileFieldParameters(hint="King?")
    done(update_profile_field, title, by=CORDELIA, body=hint)
    listed = read(of.ProfileFieldList, list_profile_fields).custom_fields
    order = list(dict.fromkeys([title, editor, *(found.id for found in listed)]))
    new_order = of.ReorderProfileFieldsParameters(order=order)
    done(reorder_profile_fields, by=CORDELIA, body=new_order)
    listed = read(of.ProfileFieldList, list_profile_fields).custom_fields
    assert [(found.name, found.hint) for found in listed[:2]] == [
        ("Title", "King?"),
        ("Editor", ""),
    ]
    prince = of.UpdateOwnProfileDataParameters(data=[of.ProfileChange(id=title, value="Prince")])
    done(update_own_profile_data, body=prince)
    data = read(of.OwnUser, get_own_user).profile_data
    assert isinstance(data, of.ProfileData)
    assert data[str(title)].value == "Prince"
    done(clear_own_profile_data, body=of.ClearOwnProfileDataParameters(data=[title]))
    done(delete_profile_field, editor, by=CORDELIA)
    unknown(list_profile_fields)
    assert refused(delete_profile_field, 999_999, by=CORDELIA) == "BAD_REQUEST"


def settings() -> None:
    dark = of.ColorScheme.DARK
    done(
        update_settings,
        body=of.UpdateSettingsParameters(twenty_four_hour_time=True, color_scheme=dark),
    )
    targets = of.TargetUsers(user_ids=[PEOPLE["othello"]["id"]])
    for_others = of.UpdateSettingsParameters(enter_sends=True, target_users=targets)
    done(update_settings, by=CORDELIA, body=for_others)
    change = FACTS["email_change"]
    for operation in (get_email_confirmation, confirm_new_email):
        answer = read(of.EmailConfirmation, operation, change["token"], by=NOBODY)
        assert answer.new_email == change["new_email"]
    unknown(update_settings, body=for_others)
    wrong = of.UpdateSettingsParameters(old_password="wrong", new_password="a new one, long!")
    assert refused(update_settings, body=wrong) == "BAD_REQUEST"


def organization() -> None:
    members = [PEOPLE["hamlet"]["id"], PEOPLE["othello"]["id"]]
    group = of.CreateUserGroupParameters(name="players", description="They play.", members=members)
    made = read(of.UserGroupCreated, create_user_group, body=group).group_id
    groups = read(of.UserGroupList, list_user_groups).user_groups
    (players,) = [found for found in groups if found.id == made]
    assert (players.name, players.members) == ("players", members)
    visible = of.EditHistoryVisibility.ALL
    changes = of.UpdateRealmParameters(
        can_delete_any_message_group=of.GroupSettingChange(new=made),
        message_content_delete_limit_seconds="unlimited",
        message_edit_history_visibility_policy=visible,
    )
    done(update_realm, by=CORDELIA, body=changes)
    unknown(update_realm, body=changes)
    assert refused(update_realm, by=HAMLET, body=changes) == "UNAUTHORIZED_PRINCIPAL"
    unknown(list_user_groups)
    assert refused(create_user_group, body=group) == "BAD_REQUEST"
