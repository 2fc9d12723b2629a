// What a submission is joined with: the visit that its event id names, and the click that its page's address names.

import type { ClickIds } from '../hits/click-id.ts'
import type { EventIds } from '../tracking/event-id.ts'
import { createPageViewReader } from '../tracking/page-view.ts'
import type { Touch } from '../tracking/touch.ts'
import { addPageView, type Visit } from '../tracking/visit.ts'

export interface VisitMatch {
  /** Only where the event id was good. */
  visit: Visit | undefined
  /** The first and, where it is another, the last; none where nothing is known yet. */
  touches: Touch[]
  /** The newest click among them. */
  click: Touch | undefined
}

export type VisitMatcher = (asked: {
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
  ownHosts: ReadonlySet<string>
}

/** Never throws: an id that is not good is none. */
export function createVisitMatcher({ eventIds, clickIds, ownHosts }: VisitMatcherNeeds): VisitMatcher {
  const read = createPageViewReader(ownHosts)
  return ({ at, workspaceId, eventId, referer }) => {
    const told = eventId === undefined ? undefined : eventIds.open(eventId, { workspaceId, at })
    const linkOf = (text: string) => clickIds.verify(text, workspaceId)?.linkId
    const page = referer === '' ? undefined : read({ at, url: referer, referrer: '' }, linkOf)
    const onPage = page?.touch.kind === 'click' ? page : undefined
    const visit = told && onPage ? addPageView(told, onPage) : told
    const touches = visit ? toTouches(visit) : onPage ? [onPage.touch] : []
    return { visit, touches, click: touches.findLast(({ kind }) => kind === 'click') }
  }
}

const toTouches = ({ first, last }: Visit) => (last === first ? [first] : [first, last])
