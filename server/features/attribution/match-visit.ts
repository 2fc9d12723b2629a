// Matches a submission with the visit that its event id names, and with the click that its page's address names.

import type { ClickIds } from '../hits/click-id.ts'
import type { EventIds } from '../tracking/event-id.ts'
import { createPageViewReader } from '../tracking/page-view.ts'
import type { Touch } from '../tracking/touch.ts'
import { addPageView, type Visit } from '../tracking/visit.ts'
import type { OwnHosts } from '../visitors/referrer.ts'

export interface VisitMatch {
  /** Undefined where the event id is absent or invalid. */
  visit: Visit | undefined
  /** The first touch and the last, or only one where they are the same; empty where no touch is known yet. */
  touches: Touch[]
  /** The newest click among the touches. */
  click: Touch | undefined
}

export type VisitMatcher = (submission: {
  at: number
  workspaceId: number
  /** `_service_eid` as it was sent. */
  eventId: string | undefined
  /** The Referer header, or ''. */
  referer: string
}) => VisitMatch

export interface VisitMatcherNeeds {
  eventIds: Pick<EventIds, 'open'>
  clickIds: Pick<ClickIds, 'verify'>
  ownHosts: OwnHosts
}

/** The matcher never throws. An invalid id counts as absent. */
export function createVisitMatcher({ eventIds, clickIds, ownHosts }: VisitMatcherNeeds): VisitMatcher {
  const readPageView = createPageViewReader(ownHosts)
  return ({ at, workspaceId, eventId, referer }) => {
    const opened = eventId === undefined ? undefined : eventIds.open(eventId, { workspaceId, at })
    const findLinkId = (text: string) => clickIds.verify(text, workspaceId)?.linkId
    const pageView = referer === '' ? undefined : readPageView({ at, url: referer, referrer: '' }, findLinkId)
    // The page's address counts only where it names a click.
    const clickView = pageView?.touch.kind === 'click' ? pageView : undefined
    const visit = opened && clickView ? addPageView(opened, clickView) : opened
    const touches = visit ? toTouches(visit) : clickView ? [clickView.touch] : []
    return { visit, touches, click: touches.findLast(({ kind }) => kind === 'click') }
  }
}

const toTouches = ({ first, last }: Visit) => (last === first ? [first] : [first, last])
