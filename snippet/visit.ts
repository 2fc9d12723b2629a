// Reports the page view to the server, and keeps the event id of the answer for the submissions of this visit. The event
// id is in the session storage of the tab: there is no cookie, and it goes with the tab.

import type { Site } from './site.ts'
import {
  dropAnswered,
  keepUnanswered,
  type PageView,
  readText,
  storeText,
  storeUnanswered,
} from './unanswered.ts'

export interface PageVisit {
  /** Adds the event id, and a report without an answer so far, because a form can be faster. */
  addTo(data: FormData): void
  /** Reports the current page. */
  report(): void
  /** Resolves when the server has answered or cannot be reached. */
  reported(): Promise<unknown> | undefined
}

// Pages have far shorter addresses. With an event id, the page fits into the 8 KB that the intake accepts.
const URL_MAX = 3000
const REFERRER_MAX = 1500

export function createVisit({ workspace, intakeUrl }: Pick<Site, 'workspace' | 'intakeUrl'>): PageVisit {
  // With Global Privacy Control, the snippet reports nothing, and keeps nothing of an earlier page.
  const silent = !workspace || (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl
  const name = `towpath:${workspace}`
  let id = silent ? undefined : readText(name)
  let unanswered: string | undefined
  let report: Promise<unknown> | undefined

  async function reportPageView() {
    await untilVisible()
    // Reads the event id again: the visitor may have seen other pages of the visit before this one.
    id = readText(name) ?? id
    const reportedId = id
    const view: PageView = {
      u: location.href.replace(/#.*/, '').slice(0, URL_MAX),
      r: document.referrer.slice(0, REFERRER_MAX),
      i: crypto.getRandomValues(new Uint32Array(2)).join(''),
      t: Date.now(),
    }
    unanswered = keepUnanswered(name, view, { w: workspace, e: id })
    const response = await fetch(intakeUrl.slice(0, -1), {
      credentials: 'omit',
      method: 'POST',
      // A text body needs no preflight request. With `keepalive`, the request may outlive the page.
      body: unanswered,
      keepalive: true,
    })
    // The server has not recorded the page: the next page reports it again.
    if (response.status === 429 || response.status > 499) return
    const newId: string | undefined = response.ok ? ((await response.json()).e ?? undefined) : id
    unanswered = undefined
    // A later page of the tab may have got an answer since, for example while this one was in the back/forward cache.
    id = readText(name) ?? id
    if (!dropAnswered(name, view) && id !== reportedId) return
    id = newId
    storeText(name, id)
  }

  if (silent) {
    storeText(name)
    storeUnanswered(name, [])
  }
  const start = () => {
    // A failure must not disturb the page. Without an event id, a submission is stored without its visit.
    if (!silent) report = reportPageView().catch(() => {})
  }
  addEventListener('pageshow', ({ persisted }) => persisted && report && start())
  return {
    addTo(data) {
      if (id) data.set('_service_eid', id)
      if (unanswered) data.set('_service_view', unanswered)
    },
    report: start,
    reported: () => report,
  }
}

/** Waits until the visitor sees the page: a prerendered page and a background tab are not visible yet. */
const untilVisible = () =>
  new Promise<void>((resolve) => {
    const check = () => document.visibilityState === 'visible' && resolve()
    addEventListener('visibilitychange', check, true)
    check()
  })
