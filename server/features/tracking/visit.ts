// A visit: the pages that a visitor sees in one tab with less than half an hour between them, and what brought the
// visitor there. A visit has no row: the event id (event-id.ts) carries everything that a submission needs of it.

import { isSameTouch, type Touch } from './touch.ts'

export interface Visit {
  workspaceId: number
  /** Made of the id of the visit's first hit, and of the node that recorded it. */
  id: string
  /** Milliseconds since the epoch, as `seenAt`. */
  startedAt: number
  /** The time of the newest page view. */
  seenAt: number
  views: number
  /** The newest page, without its query. */
  pageUrl: string | null
  first: Touch
  /** The same object as `first` until there is another touch. */
  last: Touch
}

export interface PageView {
  at: number
  pageUrl: string | null
  touch: Touch
}

export const VISIT_ENDS_AFTER_MS = 30 * 60 * 1000

export const isVisitOver = (visit: Visit, at: number) => at - visit.seenAt >= VISIT_ENDS_AFTER_MS

export function startVisit({ at, pageUrl, touch }: PageView, workspaceId: number, id: string): Visit {
  return { workspaceId, id, startedAt: at, seenAt: at, views: 1, pageUrl, first: touch, last: touch }
}

export function addPageView(visit: Visit, { at, pageUrl, touch }: PageView): Visit {
  // A page view that is reported again has the time of its first report.
  const seenAt = Math.max(visit.seenAt, at)
  return { ...visit, seenAt, views: visit.views + 1, pageUrl, last: chooseLastTouch(visit, touch) }
}

/** The next page of the same site is no new touch, nor is a way back to the first page. */
function chooseLastTouch({ first, last }: Visit, touch: Touch): Touch {
  const isKnown = touch.kind === 'direct' || isSameTouch(touch, last) || isSameTouch(touch, first)
  return isKnown ? last : touch
}
