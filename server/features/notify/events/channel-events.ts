// The events that a channel may be told of, and what a key needs to see what they say.

import type { RouteScope } from '../../../http/key-scope.ts'

export const CHANNEL_EVENTS = [
  'submission.created',
  'outcome.recorded',
  'link.created',
  'link.updated',
  'link.deleted',
  'link.clicked',
  'link.closed',
  'split.decided',
] as const
export type ChannelEvent = (typeof CHANNEL_EVENTS)[number]

/** The event that forms decide about. */
export const SUBMISSION_EVENT = 'submission.created'
/** The events that the workspace's channels are told of without a form. */
export type WorkspaceEvent = Exclude<ChannelEvent, typeof SUBMISSION_EVENT>

export const isWorkspaceEvent = (event: string): event is WorkspaceEvent =>
  event !== SUBMISSION_EVENT && (CHANNEL_EVENTS as readonly string[]).includes(event)

/** A channel shows its owner what they say: a key that may not read it must not send it anywhere either. */
export const EVENT_SCOPES: Record<WorkspaceEvent, RouteScope> = {
  'outcome.recorded': 'submissions:read',
  'link.created': 'links:read',
  'link.updated': 'links:read',
  'link.deleted': 'links:read',
  'link.clicked': 'analytics:read',
  'link.closed': 'links:read',
  'split.decided': 'links:read',
}

/** The events of a stored channel. */
export const parseChannelEvents = ({ events }: { events: string | null }): ChannelEvent[] =>
  events === null ? [SUBMISSION_EVENT] : JSON.parse(events)
