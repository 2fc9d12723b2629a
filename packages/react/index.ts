// The package @towpath/react: a hook that sends a form to a Towpath server. Rendering it on a server touches no window.

import { type FormEvent, type RefCallback, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { createPackageSite } from '../package-site.ts'
import { createFormSender, findVisit } from './form-sender.ts'

export interface UseFormOptions {
  /** The address of the Towpath server, such as `https://go.example`; not needed with the endpoint's whole URL. */
  origin?: string
  /** The public id of the workspace (`ws_…`): reports the page view, unless the script tag of the snippet does. */
  workspace?: string
  /** `INTAKE_PATH` of the server, where the operator has changed it. */
  intakePath?: string
  /** The nonce of the page's Content-Security-Policy: Turnstile's script needs it. */
  nonce?: string
}

export interface UploadProgress {
  /** Bytes. */
  sent: number
  total: number
}

export interface FormState {
  submitting: boolean
  succeeded: boolean
  /** The form's `successMessage`, or else a text in the page's language. */
  successMessage: string | null
  /** Messages by field. */
  errors: Record<string, string>
  /** A message that belongs to no field. */
  error: string | null
  /** While files are sent. */
  progress: UploadProgress | null
}

export type FormValues = Record<
  string,
  string | number | boolean | Blob | (string | Blob)[] | null | undefined
>

export interface TowpathForm extends FormState {
  /** For `action`, with `method="post"`: the form works before React has started, and without it. */
  endpoint: string
  /** For `ref`: prepares the captcha before the visitor sends the form. Turnstile's widget appears at once. */
  ref: RefCallback<HTMLFormElement>
  /** For `onSubmit`. The form is emptied when the server has stored it. */
  handleSubmit(event: FormEvent<HTMLFormElement>): void
  /** Sends values without a form. @returns whether the server has stored them */
  submit(values: FormData | FormValues): Promise<boolean>
  /** Back to the state before the first submission. */
  reset(): void
}

const IDLE: FormState = {
  submitting: false,
  succeeded: false,
  successMessage: null,
  errors: {},
  error: null,
  progress: null,
}

/** @param form a form's key with `origin`, or the URL of its endpoint */
export function useForm(form: string, options: UseFormOptions = {}): TowpathForm {
  const { origin, key } = readTarget(form, options.origin)
  const { workspace, intakePath, nonce } = options
  const site = useMemo(
    () => createPackageSite({ origin, workspace, intakePath, nonce }),
    [origin, workspace, intakePath, nonce],
  )
  const sender = useMemo(() => createFormSender(site, key), [site, key])
  const [state, setState] = useState(IDLE)
  // A ref, because state is one render late: the second click of a double click would not see it.
  const busy = useRef(false)

  useEffect(() => void findVisit(site), [site])
  const ref = useCallback<RefCallback<HTMLFormElement>>(
    (element) => (element ? sender.attach(element) : sender.detach()),
    [sender],
  )
  const submit = useCallback(
    async (values: FormData | FormValues) => {
      if (busy.current) return false
      busy.current = true
      setState({ ...IDLE, submitting: true })
      try {
        const { ok, ...result } = await sender.send(toFormData(values), (progress) =>
          setState((before) => (before.submitting ? { ...before, progress } : before)),
        )
        setState({ ...IDLE, ...result, succeeded: ok })
        return ok
      } finally {
        busy.current = false
      }
    },
    [sender],
  )
  const handleSubmit = useCallback(
    (event: FormEvent<HTMLFormElement>) => {
      event.preventDefault()
      const element = event.currentTarget
      const { submitter } = event.nativeEvent as SubmitEvent
      sender.attach(element)
      void submit(new FormData(element, submitter)).then((stored) => {
        if (stored) HTMLFormElement.prototype.reset.call(element)
      })
    },
    [sender, submit],
  )
  const reset = useCallback(() => setState(IDLE), [])
  return { ...state, endpoint: `${site.formUrls[0]}${key}`, ref, handleSubmit, submit, reset }
}

/** @throws where neither the form nor `origin` names the server */
function readTarget(form: string, origin = '') {
  const url = /^(https?:\/\/.*)\/f\/([^/?#]+)/.exec(form)
  if (url) return { origin: url[1] as string, key: url[2] as string }
  if (!/^https?:\/\//.test(origin))
    throw new Error('useForm: origin must be the address of your Towpath server')
  return { origin, key: form }
}

function toFormData(values: FormData | FormValues): FormData {
  if (values instanceof FormData) return values
  const data = new FormData()
  for (const [name, value] of Object.entries(values))
    for (const each of Array.isArray(value) ? value : [value ?? ''])
      data.append(name, each instanceof Blob ? each : String(each))
  return data
}
