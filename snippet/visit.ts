// Tells the server that the page is seen, and keeps what it answers for the submissions of this visit. In the session
// storage of this tab: no cookie, and gone with the tab.

import { intake, script } from './place.ts'

export interface Visit {
  /** The event id for `_service_eid`. */
  id(): string | undefined
  /** Ends when the server has answered, or cannot be reached. */
  told(): Promise<unknown>
}

// Both far above what pages have; together with an event id they stay below the 8 KB that the intake reads.
const URL_MAX = 3000
const REFERRER_MAX = 1500

export function openVisit(): Visit {
  const workspace = script?.dataset.workspace
  // Global Privacy Control: nothing is asked for and nothing of an earlier page is used.
  const silent = !workspace || (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl
  const name = `towpath:${workspace}`
  let id = silent ? undefined : recall(name)
  let told: Promise<unknown> = Promise.resolve()

  async function tell() {
    await seen()
    // Again: other pages of the visit were there while this one waited to be seen.
    id = recall(name) ?? id
    const answer = await fetch(intake.slice(0, -1), {
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
    remember(name, id)
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
  return { id: () => id, told: () => told }
}

/** A page that is fetched ahead, or in a tab behind, is not seen yet. */
const seen = () =>
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
function recall(name: string): string | undefined {
  try {
    return sessionStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

function remember(name: string, id: string | undefined) {
  try {
    if (id) sessionStorage.setItem(name, id)
    else sessionStorage.removeItem(name)
  } catch {
    // As above.
  }
}
