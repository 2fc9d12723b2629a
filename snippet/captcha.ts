// The second file of the snippet, /e/captcha-….js: what makes the tokens of forms that have a captcha.

import type { CaptchaRequest, CaptchaWidget } from './load-captcha.ts'
import { type Challenge, solve } from './proof-of-work.ts'
import { renderTurnstile } from './turnstile.ts'

/** A challenge is good for ten; the last minute is for sending, and for slow phones. */
const GOOD_FOR_MS = 9 * 60_000

interface Run {
  until: number
  abort: AbortController
  token: Promise<string | undefined>
}

/** Begins when somebody turns to the form, so that the token is there before it is sent. */
function openProofOfWork({ form, again }: CaptchaRequest, first: Challenge): CaptchaWidget {
  let given: { challenge: Challenge; until: number } | undefined = {
    challenge: first,
    until: Date.now() + GOOD_FOR_MS,
  }
  let run: Run | undefined

  async function challenge(): Promise<Challenge | undefined> {
    const kept = given
    given = undefined
    if (kept && kept.until > Date.now()) return kept.challenge
    const described = await again()
    return described?.provider === 'altcha' ? described.challenge : undefined
  }

  function start(): Run {
    if (run && run.until > Date.now()) return run
    const abort = new AbortController()
    const until = given && given.until > Date.now() ? given.until : Date.now() + GOOD_FOR_MS
    const token = challenge()
      .then((found) => found && solve(found, abort.signal))
      .catch(() => undefined)
      .then((found) => {
        // No network. The server says what is missing, and the next try begins anew.
        if (!found && run === started) run = undefined
        return found
      })
    const started: Run = { until, abort, token }
    run = started
    return started
  }

  HTMLFormElement.prototype.addEventListener.call(form, 'focusin', start)
  return {
    token: () => start().token,
    reset() {
      run?.abort.abort()
      run = undefined
    },
  }
}

if (window.__towpath) {
  window.__towpath.captcha = (asked) => {
    const { described } = asked
    return described.provider === 'turnstile'
      ? renderTurnstile(asked, described.siteKey)
      : openProofOfWork(asked, described.challenge)
  }
}
