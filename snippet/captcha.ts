// The part of the snippet that gets the tokens of forms with a captcha. captcha-script.ts is its file for the script tag.

import type { CaptchaRequest, CaptchaWidget, LoadedCaptcha } from './captcha-widget.ts'
import { type Challenge, solve } from './proof-of-work.ts'
import { renderTurnstile } from './turnstile.ts'

/** A challenge is valid for ten minutes. The last minute is for sending, and for slow phones. */
const VALID_FOR_MS = 9 * 60_000

interface Run {
  until: number
  abort: AbortController
  token: Promise<string | undefined>
}

/** Starts when the visitor focuses the form, so that the token is ready before the visitor sends it. */
function createProofOfWork({ form, again }: CaptchaRequest, first: Challenge): CaptchaWidget {
  let unused: { challenge: Challenge; until: number } | undefined = {
    challenge: first,
    until: Date.now() + VALID_FOR_MS,
  }
  let run: Run | undefined

  async function getChallenge(): Promise<Challenge | undefined> {
    const current = unused
    unused = undefined
    if (current && current.until > Date.now()) return current.challenge
    const described = await again()
    return described?.provider === 'altcha' ? described.challenge : undefined
  }

  function start(): Run {
    if (run && run.until > Date.now()) return run
    const abort = new AbortController()
    const until = unused && unused.until > Date.now() ? unused.until : Date.now() + VALID_FOR_MS
    const token = getChallenge()
      .then((challenge) => challenge && solve(challenge, abort.signal))
      .catch(() => undefined)
      .then((solution) => {
        // Without network there is no token: the server says that it is missing, and the next try starts again.
        if (!solution && run === started) run = undefined
        return solution
      })
    const started: Run = { until, abort, token }
    run = started
    return started
  }

  const reset = () => {
    run?.abort.abort()
    run = undefined
  }
  HTMLFormElement.prototype.addEventListener.call(form, 'focusin', start)
  return {
    token: () => start().token,
    reset,
    remove() {
      HTMLFormElement.prototype.removeEventListener.call(form, 'focusin', start)
      reset()
    },
  }
}

export const renderCaptcha: LoadedCaptcha = (request) => {
  const { described } = request
  return described.provider === 'turnstile'
    ? renderTurnstile(request, described.siteKey)
    : createProofOfWork(request, described.challenge)
}
