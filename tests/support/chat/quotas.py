"""Every quota of the chat service."""

from models.chat.ground import quotas

QUOTAS = [quota for quota in vars(quotas).values() if isinstance(quota, quotas.Quota)]
