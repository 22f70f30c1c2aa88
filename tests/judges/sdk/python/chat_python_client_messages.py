"""Channels and messages, by openapi-python-client."""

import time

import specd_chat_client.models as of
from chat_python_client import (
    CORDELIA,
    OTHELLO_AGAIN,
    PEOPLE,
    asking,
    done,
    read,
    refused,
    unknown,
)
from specd_chat_client.api.channel_folders import (
    create_channel_folder,
    list_channel_folders,
    reorder_channel_folders,
    update_channel_folder,
)
from specd_chat_client.api.channels import get_channel_id, list_channels
from specd_chat_client.api.message_flags import (
    update_message_flags,
    update_message_flags_for_narrow,
)
from specd_chat_client.api.messages import (
    delete_message,
    get_message,
    list_message_history,
    list_messages,
    render_text,
    report_message,
    send_message,
    update_message,
)
from specd_chat_client.api.realm import update_realm
from specd_chat_client.api.scheduled_messages import (
    create_scheduled_message,
    delete_scheduled_message,
    list_scheduled_messages,
    update_scheduled_message,
)
from specd_chat_client.api.subscriptions import (
    list_subscriptions,
    subscribe,
    unsubscribe,
    update_subscription_setting,
    update_subscription_settings,
)
from specd_chat_client.api.topics import list_topics, set_user_topic, update_muted_topic


def channel_folders() -> None:
    def make(name: str, description: str) -> int:
        folder = of.CreateChannelFolderParameters(name=name, description=description)
        made = read(of.ChannelFolderCreated, create_channel_folder, by=CORDELIA, body=folder)
        return made.channel_folder_id

    plays, poems = make("Plays", "*All* of them"), make("Poems", "")
    sonnets = of.UpdateChannelFolderParameters(name="Sonnets")
    done(update_channel_folder, poems, by=CORDELIA, body=sonnets)
    order = of.ReorderChannelFoldersParameters(order=[poems, plays])
    done(reorder_channel_folders, by=CORDELIA, body=order)
    listed = read(of.ChannelFolderList, list_channel_folders).channel_folders
    assert [found.name for found in listed] == ["Sonnets", "Plays"]
    again = of.CreateChannelFolderParameters(name="plays", description="")
    assert refused(create_channel_folder, by=CORDELIA, body=again) == "BAD_REQUEST"
    unknown(list_channel_folders)


def channels() -> int:
    hamlet, othello = PEOPLE["hamlet"]["id"], PEOPLE["othello"]["id"]
    names = [
        of.ChannelToSubscribe(name="Denmark", description="Rotten?"),
        of.ChannelToSubscribe(name="Verona"),
    ]
    both = of.AnonymousGroup(direct_members=[hamlet, othello], direct_subgroups=[])
    subscription = of.SubscribeParameters(
        subscriptions=names,
        principals=[hamlet, othello],
        message_retention_days="realm_default",
        can_send_message_group=both,
        announce=False,
    )
    made = read(of.Subscribed, subscribe, body=subscription)
    assert made.subscribed[str(othello)] == ["Denmark", "Verona"]
    denmark = read(of.ChannelId, get_channel_id, stream="Denmark").stream_id
    listed = read(of.ChannelList, list_channels).streams
    assert {"Denmark", "Verona"} <= {channel.name for channel in listed}
    color = of.UpdateSubscriptionSettingParameters(
        property_=of.SubscriptionProperty.COLOR, value="#f00f00"
    )
    done(update_subscription_setting, denmark, body=color)
    pin = of.SubscriptionChange(denmark, property_=of.SubscriptionProperty.PIN_TO_TOP, value=True)
    pins = of.UpdateSubscriptionSettingsParameters(subscription_data=[pin])
    done(update_subscription_settings, body=pins)
    subscriptions = read(of.SubscriptionList, list_subscriptions, include_subscribers=True)
    (mine,) = [each for each in subscriptions.subscriptions if each.stream_id == denmark]
    assert (mine.color, mine.pin_to_top) == ("#f00f00", True)
    assert mine.subscribers == [hamlet, othello]
    assert isinstance(mine.can_send_message_group, of.AnonymousGroup)
    assert mine.can_send_message_group.direct_members == [hamlet, othello]
    left = read(of.Unsubscribed, unsubscribe, body=of.UnsubscribeParameters(["Verona"]))
    assert (left.removed, left.not_removed) == (["Verona"], [])
    unknown(list_channels)
    assert refused(get_channel_id, stream="Nowhere") == "BAD_REQUEST"
    unknown(list_subscriptions)
    assert refused(unsubscribe, body=of.UnsubscribeParameters(["Nowhere"])) == "BAD_REQUEST"
    return denmark


def messages(denmark: int) -> None:
    othello = PEOPLE["othello"]["id"]
    words = of.SendMessageParameters(
        type_=of.RecipientType.CHANNEL,
        to="Denmark",
        topic="castle",
        content="Words, *words*, words.",
    )
    sent = read(of.MessageSent, send_message, body=words, idempotency_key="a-fresh-random-value")
    castle = sent.id
    question = of.SendMessageParameters(
        type_=of.RecipientType.DIRECT, to=[othello], content="Are you honest?"
    )
    direct = read(of.MessageSent, send_message, body=question).id
    message = read(of.OneMessage, get_message, castle, apply_markdown=False).message
    assert (message.content, message.subject) == ("Words, *words*, words.", "castle")
    assert message.display_recipient == "Denmark"
    recipients = read(of.OneMessage, get_message, direct).message.display_recipient
    assert isinstance(recipients, list)
    assert othello in [member.id for member in recipients]
    change = of.UpdateMessageParameters(content="Words!")
    assert read(of.MessageUpdated, update_message, castle, body=change).detached_uploads == []
    history = read(of.MessageHistory, list_message_history, castle).message_history
    assert [each.content for each in history] == ["Words, *words*, words.", "Words!"]
    assert history[1].prev_content == history[0].content
    newest = {"anchor": "newest", "num_before": 10, "num_after": 0}
    found = read(of.MessageList, list_messages, **newest)
    assert {castle, direct} <= {each.id for each in found.messages}
    by = asking(narrow=[of.NarrowCondition(operator="channel", operand="Denmark").to_dict()])
    found = read(of.MessageList, list_messages, by=by, **newest)
    assert {each.display_recipient for each in found.messages} == {"Denmark"}
    assert found.messages[-1].id == castle
    found = read(of.MessageList, list_messages, by=asking(message_ids=[castle, direct]))
    assert [each.id for each in found.messages] == [castle, direct]
    bold = of.RenderTextParameters(content="**bold**")
    assert "<strong>bold</strong>" in read(of.RenderedText, render_text, body=bold).rendered
    report = of.ReportMessageParameters(report_type=of.ReportType.NORMS, description="Rude.")
    channel = of.UpdateRealmParameters(moderation_request_channel_id=denmark)
    done(update_realm, by=CORDELIA, body=channel)
    done(report_message, castle, by=OTHELLO_AGAIN, body=report)
    flags(castle)
    topics(denmark, castle)
    done(delete_message, castle)
    unknown(list_messages)
    assert refused(get_message, castle) == "BAD_REQUEST"


def flags(castle: int) -> None:
    star = of.UpdateMessageFlagsParameters(messages=[castle], op="add", flag="starred")
    assert read(of.FlagsUpdated, update_message_flags, body=star).messages == [castle]
    everything = of.UpdateMessageFlagsForNarrowParameters(
        anchor="newest",
        num_before=10,
        num_after=0,
        narrow=[of.NarrowCondition(operator="channel", operand="Denmark")],
        op="remove",
        flag="starred",
    )
    updated = read(of.FlagsUpdatedForNarrow, update_message_flags_for_narrow, body=everything)
    assert updated.updated_count == 1
    unknown(update_message_flags, body=star)
    star.flag = "x"
    assert refused(update_message_flags, body=star) == "BAD_REQUEST"


def topics(denmark: int, castle: int) -> None:
    listed = read(of.TopicList, list_topics, denmark).topics
    assert ("castle", castle) in [(topic.name, topic.max_id) for topic in listed]
    followed = of.TopicVisibilityPolicy.FOLLOWED
    follow = of.SetUserTopicParameters(denmark, topic="castle", visibility_policy=followed)
    done(set_user_topic, body=follow)
    add = of.MuteOperation.ADD
    mute = of.UpdateMutedTopicParameters(op=add, stream_id=denmark, topic="castle")
    done(update_muted_topic, body=mute)
    unknown(list_topics, denmark)
    assert refused(list_topics, 999_999) == "BAD_REQUEST"


def scheduled_messages() -> None:
    othello = PEOPLE["othello"]["id"]
    message = of.CreateScheduledMessageParameters(
        type_=of.RecipientType.DIRECT,
        to=[othello],
        content="Remember me.",
        scheduled_delivery_timestamp=int(time.time()) + 3600,
    )
    scheduled = read(of.ScheduledMessageCreated, create_scheduled_message, body=message)
    made = scheduled.scheduled_message_id
    adieu = of.UpdateScheduledMessageParameters(content="Adieu, adieu.")
    done(update_scheduled_message, made, body=adieu)
    (waiting,) = read(of.ScheduledMessageList, list_scheduled_messages).scheduled_messages
    assert (waiting.content, waiting.failed, waiting.to) == ("Adieu, adieu.", False, [othello])
    done(delete_scheduled_message, made)
    unknown(list_scheduled_messages)
    assert refused(delete_scheduled_message, made) == "BAD_REQUEST"
