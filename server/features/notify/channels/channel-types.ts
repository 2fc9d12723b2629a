// Types of channels, and how an attempt ends.

export const CHANNEL_TYPES = ['email', 'slack', 'discord', 'telegram', 'teams', 'webhook', 'http'] as const
export const DELIVERY_OUTCOMES = ['delivered', 'refused', 'unreachable', 'timeout', 'interrupted'] as const
export const CHANNEL_URL_MAX = 2048
