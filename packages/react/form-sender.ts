// Submits the form of one hook: checks the files, and adds the visit and the captcha token.

import { findFileErrors } from '../../snippet/file-errors.ts'
import { type FormInfo, fetchFormInfo } from '../../snippet/form-info.ts'
import { FAILED } from '../../snippet/messages.ts'
import type { Site } from '../../snippet/site.ts'
import {
  addHiddenFields,
  type CaptchaForm,
  EVENT_ID_WITHIN_MS,
  hasFile,
  sendForm,
  startCaptcha,
  TOKEN_WITHIN_MS,
  tellCaptcha,
  withTimeout,
} from '../../snippet/submission.ts'
import { type ProgressListener, sendUpload } from '../../snippet/upload-request.ts'
import { createVisit, type PageVisit } from '../../snippet/visit.ts'

/** If the server does not describe the form in this time, it is submitted anyway. */
const INFO_WITHIN_MS = 5_000

export interface SendResult {
  ok: boolean
  successMessage: string | null
  errors: Record<string, string>
  error: string | null
}

export interface FormSender {
  /** Starts what needs the form's element: the captcha. The second call for an element does nothing. */
  attach(form: HTMLFormElement): void
  detach(): void
  send(body: FormData, onProgress: ProgressListener): Promise<SendResult>
}

const NO_VISIT: PageVisit = { addTo() {}, report() {}, reported: () => undefined }

/** The visits of this page, by workspace: each page view is reported once, however many hooks there are. */
const visits = new Map<string, PageVisit>()

/** With the script tag on the page, the script reports page views and adds the visit to each form. */
export function findVisit(site: Site): PageVisit {
  const { workspace } = site
  if (!workspace || (window as { towpath?: { enhance?: unknown } }).towpath?.enhance) return NO_VISIT
  let visit = visits.get(workspace)
  if (!visit) {
    visit = createVisit(site)
    visits.set(workspace, visit)
    visit.report()
  }
  return visit
}

export function createFormSender(site: Site, key: string): FormSender {
  const url = `${site.formUrls[0]}${key}`
  let info: Promise<FormInfo | undefined> | undefined
  let attached: CaptchaForm | undefined

  const loadInfo = () => {
    info ??= fetchFormInfo(site.intakeUrl, [key])
      .then((infos) => infos[key])
      .catch(() => {
        info = undefined
        return undefined
      })
    return info
  }

  async function request(body: FormData, onProgress: ProgressListener) {
    const visit = findVisit(site)
    await withTimeout(EVENT_ID_WITHIN_MS, visit.reported())
    const captcha = attached && startCaptcha(attached)?.then((widget) => widget?.token())
    const token = captcha && (await withTimeout(TOKEN_WITHIN_MS, captcha))
    addHiddenFields(body, visit, { token })
    const abort = new AbortController()
    return hasFile(body) ? sendUpload(url, body, abort, onProgress) : sendForm(url, body, abort)
  }

  return {
    attach(form) {
      if (attached?.form === form) return
      const added: CaptchaForm = { site, form, key }
      attached = added
      void loadInfo().then((facts) => {
        added.facts = facts
        if (attached === added) void startCaptcha(added)
      })
    },
    detach() {
      if (attached) tellCaptcha(attached, 'remove')
      attached = undefined
    },
    async send(body, onProgress) {
      const facts = await withTimeout(INFO_WITHIN_MS, loadInfo())
      if (attached) attached.facts = facts
      const fileErrors = facts ? findFileErrors(body, facts) : {}
      if (Object.keys(fileErrors).length > 0) return toResult(facts, { errors: fileErrors })
      const answer = await request(body, onProgress)
        .then((response) => response.json())
        .catch(() => undefined)
      if (attached) tellCaptcha(attached, 'reset')
      return toResult(facts, answer)
    },
  }
}

function toResult(
  facts: FormInfo | undefined,
  answer: { ok?: boolean; error?: string; errors?: Record<string, string> } | undefined,
): SendResult {
  const ok = answer?.ok === true
  const errors = answer?.errors ?? {}
  const failed = facts?.texts?.failed || FAILED
  return {
    ok,
    successMessage: ok ? facts?.successMessage || facts?.texts?.sent || null : null,
    errors,
    error: ok ? null : (answer?.error ?? (Object.keys(errors).length > 0 ? null : failed)),
  }
}
