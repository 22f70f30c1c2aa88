"""Every quota of the chat service."""

from models.chat.common import quotas

QUOTAS = [quota for quota in vars(quotas).values() if isinstance(quota, quotas.Quota)]
