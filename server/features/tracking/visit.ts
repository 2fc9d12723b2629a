// A visit: the pages that somebody sees in one tab with less than half an hour between them, and what brought them there.
// It has no row of its own; all that a submission needs to know of it is carried by the event id (event-id.ts).

import { isSameTouch, type Touch } from './touch.ts'

export interface Visit {
  workspaceId: number
  /** The place of its landing among the hits. */
  id: string
  /** Milliseconds since the epoch, as is `seenAt`. */
  startedAt: number
  /** Of the newest page. */
  seenAt: number
  views: number
  /** The newest page, without its query. */
  pageUrl: string | null
  first: Touch
  /** The same object as `first` until another one comes. */
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
  return { ...visit, seenAt: at, views: visit.views + 1, pageUrl, last: chooseLastTouch(visit, touch) }
}

/** Only something new is a touch: not the next page of the same site, and not the way back to the first one. */
function chooseLastTouch({ first, last }: Visit, touch: Touch): Touch {
  const nothingNew = touch.kind === 'direct' || isSameTouch(touch, last) || isSameTouch(touch, first)
  return nothingNew ? last : touch
}
