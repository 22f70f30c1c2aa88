"""Every operation of the chat document, by openapi-generator's Python SDK."""

import specd_chat as sdk
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
from specd_chat.exceptions import UnauthorizedException


def sign_in() -> None:
    server = sdk.ServerSettingsApi(NOBODY).get_server_settings()
    assert (server.zulip_feature_level, server.realm_name) == (478, "Acme")
    api, hamlet = sdk.SignInApi(NOBODY), PEOPLE["hamlet"]
    by_password = api.fetch_api_key(
        sdk.FetchApiKeyParameters(username=hamlet["email"], password=FACTS["password"])
    )
    assert (by_password.api_key, by_password.user_id) == (hamlet["key"], hamlet["id"])
    dev = api.dev_fetch_api_key(sdk.DevFetchApiKeyParameters(username=hamlet["email"]))
    assert dev.api_key == hamlet["key"]
    signed = sdk.JwtFetchApiKeyParameters(token=FACTS["jwt"], include_profile=True)
    by_token = api.jwt_fetch_api_key(signed)
    assert by_token.user is not None
    assert (by_token.api_key, by_token.user.full_name) == (hamlet["key"], "Hamlet")
    wrong = sdk.FetchApiKeyParameters(username=hamlet["email"], password="wrong")
    code = refusal(api.fetch_api_key, wrong, error=UnauthorizedException)
    assert code == "AUTHENTICATION_FAILED"
    assert bad(api.jwt_fetch_api_key, sdk.JwtFetchApiKeyParameters(token="x")) == "BAD_REQUEST"


def users() -> None:
    api, administrator = sdk.UsersApi(HAMLET), sdk.UsersApi(CORDELIA)
    hamlet, othello = PEOPLE["hamlet"], PEOPLE["othello"]
    me = api.get_own_user()
    assert (me.user_id, me.full_name, me.role) == (hamlet["id"], "Hamlet", sdk.Role.MEMBER)
    members = api.list_users(client_gravatar=None).members
    assert othello["id"] in [user.user_id for user in members]
    both = [hamlet["id"], othello["id"]]
    assert [user.user_id for user in api.list_users(user_ids=both).members] == both
    assert api.get_user(othello["id"]).user.full_name == "Othello"
    assert api.get_user_by_email(othello["email"]).user.user_id == othello["id"]
    done(api.update_own_status(sdk.UpdateOwnStatusParameters(status_text="Reading")))
    assert api.get_user_status(hamlet["id"]).status.status_text == "Reading"
    made = administrator.create_user(
        sdk.CreateUserParameters(
            email="yorick@acme.example", password="alas poor yorick!", full_name="Yorick"
        )
    )
    done(
        administrator.update_user(
            made.user_id, sdk.UpdateUserParameters(full_name="Poor Yorick", role=sdk.Role.MODERATOR)
        )
    )
    assert api.get_user(made.user_id).user.role == sdk.Role.MODERATOR
    actions = sdk.AccountDeletion(delete_profile=False, delete_direct_messages=True)
    done(administrator.deactivate_user(made.user_id, sdk.DeactivateUserParameters(actions=actions)))
    assert api.get_user(made.user_id).user.is_active is False
    done(administrator.reactivate_user(made.user_id))
    unknown(sdk.UsersApi(NOBODY).get_own_user)
    assert bad(api.get_user, 999_999) == "BAD_REQUEST"
    assert bad(api.deactivate_user, othello["id"]) == "BAD_REQUEST"


def profile_fields() -> None:
    api, mine = sdk.ProfileFieldsApi(CORDELIA), sdk.UsersApi(HAMLET)
    choices = {"0": {"text": "Vim", "order": "1"}, "1": {"text": "Emacs", "order": "2"}}
    editor = api.create_profile_field(
        sdk.CreateProfileFieldParameters(name="Editor", field_type=3, field_data=choices)
    ).id
    title = api.create_profile_field(
        sdk.CreateProfileFieldParameters(name="Title", field_type=1, hint="Prince?")
    ).id
    done(api.update_profile_field(title, sdk.UpdateProfileFieldParameters(hint="King?")))
    order = [title, editor, *(f.id for f in api.list_profile_fields().custom_fields)]
    order = list(dict.fromkeys(order))
    done(api.reorder_profile_fields(sdk.ReorderProfileFieldsParameters(order=order)))
    fields = api.list_profile_fields().custom_fields
    assert [(field.name, field.hint) for field in fields[:2]] == [
        ("Title", "King?"),
        ("Editor", ""),
    ]
    change = sdk.ProfileChange(id=title, value=sdk.ProfileFieldInput("Prince"))
    done(mine.update_own_profile_data(sdk.UpdateOwnProfileDataParameters(data=[change])))
    data = mine.get_own_user().profile_data
    assert data is not None
    assert data[str(title)].value == "Prince"
    done(mine.clear_own_profile_data(sdk.ClearOwnProfileDataParameters(data=[title])))
    done(api.delete_profile_field(editor))
    unknown(sdk.ProfileFieldsApi(NOBODY).list_profile_fields)
    assert bad(api.delete_profile_field, 999_999) == "BAD_REQUEST"


def settings() -> None:
    api = sdk.SettingsApi(HAMLET)
    targets = sdk.TargetUsers(user_ids=[PEOPLE["othello"]["id"]])
    changes = sdk.UpdateSettingsParameters(
        twenty_four_hour_time=True, color_scheme=sdk.ColorScheme.DARK
    )
    done(api.update_settings(changes))
    changes = sdk.UpdateSettingsParameters(enter_sends=True, target_users=targets)
    done(sdk.SettingsApi(CORDELIA).update_settings(changes))
    change = FACTS["email_change"]
    waiting = sdk.SettingsApi(NOBODY).get_email_confirmation(change["token"])
    assert waiting.new_email == change["new_email"]
    confirmed = sdk.SettingsApi(NOBODY).confirm_new_email(change["token"])
    assert confirmed.new_email == change["new_email"]
    unknown(sdk.SettingsApi(NOBODY).update_settings)
    wrong = sdk.UpdateSettingsParameters(old_password="wrong", new_password="a new one, long!")
    assert bad(api.update_settings, wrong) == "BAD_REQUEST"


def realm() -> None:
    api = sdk.RealmApi(CORDELIA)
    groups = sdk.UserGroupsApi(HAMLET)
    members = [PEOPLE["hamlet"]["id"], PEOPLE["othello"]["id"]]
    made = groups.create_user_group(
        sdk.CreateUserGroupParameters(name="players", description="They play.", members=members)
    )
    (players,) = [g for g in groups.list_user_groups().user_groups if g.id == made.group_id]
    assert (players.name, players.members) == ("players", members)
    who = sdk.GroupSettingChange(new=sdk.GroupSettingValue(made.group_id))
    done(
        api.update_realm(
            sdk.UpdateRealmParameters(
                can_delete_any_message_group=sdk.GroupSettingUpdate(who),
                message_content_delete_limit_seconds=sdk.Seconds("unlimited"),
                message_edit_history_visibility_policy=sdk.EditHistoryVisibility.ALL,
            )
        )
    )
    unknown(sdk.RealmApi(NOBODY).update_realm)
    assert bad(sdk.RealmApi(HAMLET).update_realm) == "UNAUTHORIZED_PRINCIPAL"
    unknown(sdk.UserGroupsApi(NOBODY).list_user_groups)
    again = sdk.CreateUserGroupParameters(name="players", description="", members=[])
    assert bad(groups.create_user_group, again) == "BAD_REQUEST"


def channels() -> int:
    api, mine = sdk.SubscriptionsApi(HAMLET), sdk.ChannelsApi(HAMLET)
    hamlet, othello = PEOPLE["hamlet"]["id"], PEOPLE["othello"]["id"]
    folders = sdk.ChannelFoldersApi(CORDELIA)
    folder = folders.create_channel_folder(
        sdk.CreateChannelFolderParameters(name="Plays", description="*All* of them")
    ).channel_folder_id
    other = folders.create_channel_folder(
        sdk.CreateChannelFolderParameters(name="Poems", description="")
    ).channel_folder_id
    done(folders.update_channel_folder(other, sdk.UpdateChannelFolderParameters(name="Sonnets")))
    order = sdk.ReorderChannelFoldersParameters(order=[other, folder])
    done(folders.reorder_channel_folders(order))
    listed = folders.list_channel_folders().channel_folders
    assert [found.name for found in listed] == ["Sonnets", "Plays"]
    again = sdk.CreateChannelFolderParameters(name="plays", description="")
    assert bad(folders.create_channel_folder, again) == "BAD_REQUEST"
    unknown(sdk.ChannelFoldersApi(NOBODY).list_channel_folders)

    subscribed = api.subscribe(
        sdk.SubscribeParameters(
            subscriptions=[
                sdk.ChannelToSubscribe(name="Denmark", description="Rotten?"),
                sdk.ChannelToSubscribe(name="Verona"),
            ],
            principals=sdk.Principals([hamlet, othello]),
            message_retention_days=sdk.RetentionDays("realm_default"),
            can_send_message_group=sdk.GroupSettingValue(
                sdk.AnonymousGroup(direct_members=[hamlet, othello], direct_subgroups=[])
            ),
            announce=False,
        )
    )
    assert subscribed.subscribed[str(othello)] == ["Denmark", "Verona"]
    denmark = mine.get_channel_id("Denmark").stream_id
    names = [channel.name for channel in mine.list_channels(include_public=True).streams]
    assert {"Denmark", "Verona"} <= set(names)
    done(
        api.update_subscription_setting(
            denmark,
            sdk.UpdateSubscriptionSettingParameters(
                var_property=sdk.SubscriptionProperty.COLOR, value=sdk.SubscriptionValue("#f00f00")
            ),
        )
    )
    pin = sdk.SubscriptionChange(
        stream_id=denmark,
        var_property=sdk.SubscriptionProperty.PIN_TO_TOP,
        value=sdk.SubscriptionValue(True),
    )
    done(
        api.update_subscription_settings(
            sdk.UpdateSubscriptionSettingsParameters(subscription_data=[pin])
        )
    )
    (mine_there,) = [
        found
        for found in api.list_subscriptions(sdk.IncludeSubscribers(True)).subscriptions
        if found.stream_id == denmark
    ]
    assert (mine_there.color, mine_there.pin_to_top) == ("#f00f00", True)
    assert mine_there.subscribers == [hamlet, othello]
    group = mine_there.can_send_message_group.actual_instance
    assert isinstance(group, sdk.AnonymousGroup)
    assert group.direct_members == [hamlet, othello]
    left = api.unsubscribe(sdk.UnsubscribeParameters(subscriptions=["Verona"]))
    assert (left.removed, left.not_removed) == (["Verona"], [])
    unknown(sdk.ChannelsApi(NOBODY).list_channels)
    assert bad(mine.get_channel_id, "Nowhere") == "BAD_REQUEST"
    unknown(sdk.SubscriptionsApi(NOBODY).list_subscriptions)
    nowhere = sdk.UnsubscribeParameters(subscriptions=["Nowhere"])
    assert bad(api.unsubscribe, nowhere) == "BAD_REQUEST"
    return denmark


def messages(denmark: int) -> None:
    api, flags = sdk.MessagesApi(HAMLET), sdk.MessageFlagsApi(HAMLET)
    othello = PEOPLE["othello"]["id"]
    castle = api.send_message(
        sdk.SendMessageParameters(
            type="channel",
            to=sdk.MessageRecipients("Denmark"),
            topic="castle",
            content="Words, *words*, words.",
        ),
        idempotency_key="a-fresh-random-value",
    ).id
    direct = api.send_message(
        sdk.SendMessageParameters(
            type="direct",
            to=sdk.MessageRecipients([othello]),
            content="Are you honest?",
        )
    ).id
    message = api.get_message(castle, apply_markdown=False).message
    assert (message.content, message.subject) == ("Words, *words*, words.", "castle")
    assert message.display_recipient.actual_instance == "Denmark"
    recipients = api.get_message(direct).message.display_recipient.actual_instance
    assert isinstance(recipients, list)
    assert othello in [member.id for member in recipients]
    updated = api.update_message(castle, sdk.UpdateMessageParameters(content="Words!"))
    assert updated.detached_uploads == []
    first, second = api.list_message_history(castle).message_history
    assert (first.content, second.content) == ("Words, *words*, words.", "Words!")
    assert second.prev_content == first.content
    term = sdk.NarrowTerm(
        sdk.NarrowCondition(operator="channel", operand=sdk.NarrowOperand("Denmark"))
    )
    found = api.list_messages(anchor="newest", num_before=10, num_after=0)
    assert {castle, direct} <= {each.id for each in found.messages}
    found = api.list_messages(anchor="newest", num_before=10, num_after=0, narrow=[term])
    assert {each.display_recipient.actual_instance for each in found.messages} == {"Denmark"}
    assert found.messages[-1].id == castle
    found = api.list_messages(message_ids=[castle, direct])
    assert [each.id for each in found.messages] == [castle, direct]
    rendered = api.render_text(sdk.RenderTextParameters(content="**bold**")).rendered
    assert "<strong>bold</strong>" in rendered
    star = sdk.UpdateMessageFlagsParameters(messages=[castle], op="add", flag="starred")
    assert flags.update_message_flags(star).messages == [castle]
    everything = sdk.UpdateMessageFlagsForNarrowParameters(
        anchor="newest", num_before=10, num_after=0, narrow=[term], op="remove", flag="starred"
    )
    assert flags.update_message_flags_for_narrow(everything).updated_count == 1
    topics = sdk.TopicsApi(HAMLET)
    listed = topics.list_topics(denmark).topics
    assert ("castle", castle) in [(topic.name, topic.max_id) for topic in listed]
    follow = sdk.SetUserTopicParameters(
        stream_id=denmark, topic="castle", visibility_policy=sdk.TopicVisibilityPolicy.FOLLOWED
    )
    done(topics.set_user_topic(follow))
    mute = sdk.UpdateMutedTopicParameters(op="add", stream_id=denmark, topic="castle")
    done(topics.update_muted_topic(mute))
    owner = sdk.RealmApi(CORDELIA)
    done(owner.update_realm(sdk.UpdateRealmParameters(moderation_request_channel_id=denmark)))
    report = sdk.ReportMessageParameters(report_type="norms", description="Rude.")
    done(sdk.MessagesApi(OTHELLO_AGAIN).report_message(castle, report))
    done(sdk.MessagesApi(HAMLET).delete_message(castle))
    for call in (
        sdk.MessagesApi(NOBODY).list_messages,
        lambda: sdk.MessageFlagsApi(NOBODY).update_message_flags(star),
        lambda: sdk.TopicsApi(NOBODY).list_topics(denmark),
    ):
        unknown(call)
    assert bad(api.get_message, castle) == "BAD_REQUEST"
    assert bad(flags.update_message_flags, star.model_copy(update={"flag": "x"})) == "BAD_REQUEST"
    assert bad(topics.list_topics, 999_999) == "BAD_REQUEST"
