// Tells the server that the page is seen, and keeps what it answers for the submissions of this visit. In the session
// storage of this tab: no cookie, and gone with the tab.

import { intakeUrl, scriptElement } from './endpoints.ts'

export interface PageVisit {
  /** The event id for `_service_eid`. */
  eventId(): string | undefined
  /** Ends when the server has answered, or cannot be reached. */
  reported(): Promise<unknown>
}

// Both far above what pages have; together with an event id they stay below the 8 KB that the intake reads.
const URL_MAX = 3000
const REFERRER_MAX = 1500

export function trackVisit(): PageVisit {
  const workspace = scriptElement?.dataset.workspace
  // Global Privacy Control: nothing is asked for and nothing of an earlier page is used.
  const silent = !workspace || (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl
  const name = `towpath:${workspace}`
  let id = silent ? undefined : readEventId(name)
  let told: Promise<unknown> = Promise.resolve()

  async function tell() {
    await untilVisible()
    // Again: other pages of the visit were there while this one waited to be seen.
    id = readEventId(name) ?? id
    const answer = await fetch(intakeUrl.slice(0, -1), {
      method: 'POST',
      // As text, which needs no preflight; and it may outlive the page.
      body: JSON.stringify({
        w: workspace,
        u: location.href.replace(/#.*/, '').slice(0, URL_MAX),
        r: document.referrer.slice(0, REFERRER_MAX),
        e: id,
      }),
      keepalive: true,
      credentials: 'omit',
    })
    if (!answer.ok) return
    id = (await answer.json()).e ?? undefined
    storeEventId(name, id)
  }

  // What cannot be told is not the page's trouble: without it a submission is stored unlinked.
  const view = () => {
    told = tell().catch(() => {})
  }
  if (!silent) {
    view()
    addEventListener('pageshow', (event) => {
      if (event.persisted) view()
    })
  }
  return { eventId: () => id, reported: () => told }
}

/** A page that is fetched ahead, or in a tab behind, is not seen yet. */
const untilVisible = () =>
  new Promise<void>((resolve) => {
    const look = () => {
      if (document.visibilityState !== 'visible') return
      removeEventListener('visibilitychange', look, true)
      resolve()
    }
    addEventListener('visibilitychange', look, true)
    look()
  })

// A browser may refuse storage to a page, by an error: then each page is a visit of its own.
function readEventId(name: string): string | undefined {
  try {
    return sessionStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

function storeEventId(name: string, id: string | undefined) {
  try {
    if (id) sessionStorage.setItem(name, id)
    else sessionStorage.removeItem(name)
  } catch {
    // As above.
  }
}
