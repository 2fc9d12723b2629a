// The texts for a delivery: its status, its subject and its attempts.

import type { DeliveryResource } from '../../api/deliveries.ts'
import { formatAgo, formatCount } from '../../ui/format.ts'

export const DELIVERY_STATUS = {
  waiting: { label: 'Waiting', tone: 'warn' },
  delivered: { label: 'Delivered', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
} as const

const EVENT_TITLES: Partial<Record<DeliveryResource['event'], string>> = {
  test: 'Test notification',
  'channel.disabled': 'Channel turned off',
  'channel.behind': 'Channel falls behind',
  'submission.digest': 'Digest of submissions',
  'view.report': 'Report of a view',
  'view.alert': 'Alert of a view',
  'link.created': 'Link created',
  'link.updated': 'Link changed',
  'link.deleted': 'Link deleted',
  'link.clicked': 'Clicks',
  'link.closed': 'Link closed',
  'split.decided': 'Split decided',
}

/** The sender of a submission, or what else the delivery is about. */
export function toDeliveryTitle({ event, sender, submissionId }: DeliveryResource): string {
  const title = EVENT_TITLES[event]
  if (title) return title
  const name = sender ?? `submission ${submissionId}`
  if (event === 'outcome.recorded') return `Outcome of ${name}`
  if (event === 'reply') return `Reply to ${name}`
  if (event === 'confirm') return `Confirmation link to ${name}`
  return sender ?? `Submission ${submissionId}`
}

/** A mail to the sender of a form goes to no channel. */
export function toChannelName({ channelId }: DeliveryResource, names: ReadonlyMap<number, string>): string {
  if (channelId === null) return 'Form sender'
  return names.get(channelId) ?? `Channel ${channelId}`
}

/** `3 attempts`, `3 attempts, 1 interrupted` */
export function toAttemptsText({ attemptCount, interruptedCount }: DeliveryResource): string {
  const attempts = formatCount(attemptCount, 'attempt')
  return interruptedCount === 0 ? attempts : `${attempts}, ${interruptedCount} interrupted`
}

/** `soon`, `in 3 minutes` */
export const toNextAttemptText = (at: string) =>
  Date.parse(at) - Date.now() < 60_000 ? 'soon' : formatAgo(at)
