"""The security events of the chat, in addition to rejected requests."""

from enum import StrEnum


class ChatEvent(StrEnum):
    """Changes of credentials, accounts and organizations. Their log level is information."""

    # Keys and exports that were issued.
    SIGNED_IN = "signed_in"
    EXPORT_REQUESTED = "export_requested"
    EXPORT_DOWNLOADED = "export_downloaded"
    EXPORT_DELETED = "export_deleted"
    # Credentials.
    USER_API_KEY_RENEWED = "user_api_key_renewed"
    REALM_API_KEYS_REVOKED = "realm_api_keys_revoked"
    USER_PASSWORD_CHANGED = "user_password_changed"
    USER_EMAIL_CHANGED = "user_email_changed"
    # Accounts and rights.
    USER_CREATED = "user_created"
    USER_DEACTIVATED = "user_deactivated"
    USER_REACTIVATED = "user_reactivated"
    USER_ROLE_CHANGED = "user_role_changed"
    USER_RIGHTS_CHANGED = "user_rights_changed"
    # Organizations.
    REALM_CREATED = "realm_created"
    REALM_SETTING_CHANGED = "realm_setting_changed"
    JWT_SIGN_IN_CHANGED = "jwt_sign_in_changed"
    JWT_SIGN_IN_ENDED = "jwt_sign_in_ended"
