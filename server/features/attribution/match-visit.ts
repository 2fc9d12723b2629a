// Matches a submission with the visit that its event id names, and with the click that its page's address names.

import { randomToken } from '../../lib/crypto/random.ts'
import type { ClickIds } from '../hits/click-id.ts'
import type { EventIds } from '../tracking/event-id.ts'
import { createPageViewReader, type LinkLookup, type PageViewReader } from '../tracking/page-view.ts'
import { parsePageViewBody } from '../tracking/page-view-body.ts'
import { addAdClickIds, type Touch } from '../tracking/touch.ts'
import { addPageView, isVisitOver, startVisit, type Visit } from '../tracking/visit.ts'
import { type OwnHosts, parseReferrer, stripQuery } from '../visitors/referrer.ts'

export interface VisitMatch {
  /** Undefined where the event id is absent or invalid. */
  visit: Visit | undefined
  /** The first touch and the last, or only one where they are the same; empty where no touch is known yet. */
  touches: Touch[]
  /** The newest click among the touches. */
  click: Touch | undefined
  /** The host of the other site that the sender came from, as a site's own server tells it. */
  referrer: string | null
}

export type VisitMatcher = (submission: {
  at: number
  workspaceId: number
  /** `_service_eid` as it was sent. */
  eventId: string | undefined
  /** `_service_view` as it was sent. */
  pageView?: string
  /** The Referer header, or ''. */
  referer: string
  /** Where the sender came to the page from, where a site's own server tells it. */
  referrer?: string
}) => VisitMatch

export interface VisitMatcherNeeds {
  eventIds: Pick<EventIds, 'open'>
  clickIds: Pick<ClickIds, 'verify'>
  ownHosts: OwnHosts
}

/** The snippet sends no more. */
const REPORT_MAX = 8 * 1024

/** The matcher never throws. An invalid id counts as absent. */
export function createVisitMatcher({ eventIds, clickIds, ownHosts }: VisitMatcherNeeds): VisitMatcher {
  const readPageView = createPageViewReader(ownHosts)
  const needs = { eventIds, readPageView }
  return ({ at, workspaceId, eventId, pageView: report, referer, referrer = '' }) => {
    const findLinkId = (text: string) => clickIds.verify(text, workspaceId)?.linkId
    const known = eventId === undefined ? undefined : eventIds.open(eventId, { workspaceId, at })
    const opened =
      report === undefined ? known : addReportedPages(needs, { at, workspaceId, known, report }, findLinkId)
    const pageView = referer === '' ? undefined : readPageView({ at, url: referer, referrer }, findLinkId)
    // The page's address counts only where it names a click.
    const clickView = pageView?.touch.kind === 'click' ? addAdClickIds(pageView, referer) : undefined
    const visit = opened && clickView ? addPageView(opened, clickView) : opened
    const touches = visit ? toTouches(visit) : clickView ? [clickView.touch] : []
    const source = pageView?.touch ?? parseReferrer(stripQuery(referrer), ownHosts)
    return {
      visit,
      touches,
      click: touches.findLast(({ kind }) => kind === 'click'),
      referrer: source.referrer,
    }
  }
}

interface ReportedVisit {
  at: number
  workspaceId: number
  /** The visit of the event id. */
  known: Visit | undefined
  report: string
}

/**
 * A form can be sent before its page's report is answered. The pages that come with it then make the visit. They are
 * not recorded as hits, because the tab reports them again.
 */
function addReportedPages(
  { eventIds, readPageView }: Pick<VisitMatcherNeeds, 'eventIds'> & { readPageView: PageViewReader },
  { at, workspaceId, known, report }: ReportedVisit,
  findLink: LinkLookup,
): Visit | undefined {
  const body = report.length > REPORT_MAX ? '' : parsePageViewBody(report)
  if (typeof body === 'string') return known
  let visit = known ?? (body.e === undefined ? undefined : eventIds.open(body.e, { workspaceId, at }))
  for (const { u, r } of [...body.p, body]) {
    const read = readPageView({ at, url: u, referrer: r }, findLink)
    if (!read) continue
    const page = addAdClickIds(read, u)
    const current = visit && !isVisitOver(visit, at) ? visit : undefined
    visit = current ? addPageView(current, page) : startVisit(page, workspaceId, randomToken(6))
  }
  return visit
}

const toTouches = ({ first, last }: Visit) => (last === first ? [first] : [first, last])
