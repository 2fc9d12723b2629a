// What a submission is joined with: the visit that its event id names, and the click that its page's address names.

import type { ClickIds } from '../hits/click-id.ts'
import type { EventIds } from './event-id.ts'
import type { Touch } from './touch.ts'
import { readViews } from './view.ts'
import { nextView, type Visit } from './visit.ts'

export interface Joined {
  /** Only where the event id was good. */
  visit: Visit | undefined
  /** The first and, where it is another, the last; none where nothing is known yet. */
  touches: Touch[]
  /** The newest click among them. */
  click: Touch | undefined
}

export type JoinVisit = (asked: {
  at: number
  workspaceId: number
  /** `_service_eid` as it was sent. */
  eventId: string | undefined
  /** The Referer header, or ''. */
  referer: string
}) => Joined

export interface JoinNeeds {
  eventIds: Pick<EventIds, 'open'>
  clickIds: Pick<ClickIds, 'read'>
  ownHosts: ReadonlySet<string>
}

/** Never throws: an id that is not good is none. */
export function joinVisits({ eventIds, clickIds, ownHosts }: JoinNeeds): JoinVisit {
  const read = readViews(ownHosts)
  return ({ at, workspaceId, eventId, referer }) => {
    const told = eventId === undefined ? undefined : eventIds.open(eventId, { workspaceId, at })
    const linkOf = (text: string) => clickIds.read(text, workspaceId)?.linkId
    const page = referer === '' ? undefined : read({ at, url: referer, referrer: '' }, linkOf)
    const onPage = page?.touch.kind === 'click' ? page : undefined
    const visit = told && onPage ? nextView(told, onPage) : told
    const touches = visit ? touchesOf(visit) : onPage ? [onPage.touch] : []
    return { visit, touches, click: touches.findLast(({ kind }) => kind === 'click') }
  }
}

const touchesOf = ({ first, last }: Visit) => (last === first ? [first] : [first, last])
