// A working preview of a form: it sends a test submission, and shows the response and the stored submission.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleX } from 'lucide-react'
import { useId } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { createFormTest, TEST_FIELD } from '../../api/form-test.ts'
import { listNewestSubmissions } from '../../api/inbox/newest-submissions.ts'
import type { Submission } from '../../api/submissions.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { Checkbox, Field, Input, Select, Textarea } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FILE_FIELD, isLongText, listFieldNames, toControlLabel, toInputType } from './form-controls.ts'

interface SendResult {
  response: FormResponse
  stored?: Submission
}

const toTextFields = (body: FormData) =>
  Object.fromEntries([...body].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))

export function FormPreview({ form }: { form: FormResource }) {
  const api = useApi()
  const client = useQueryClient()
  const send = useMutation({
    async mutationFn(body: FormData): Promise<SendResult> {
      const values = toTextFields(body)
      const { token } = await createFormTest(api, form.formKey)
      body.set(TEST_FIELD, token)
      const response = await sendForm(form, body)
      if (!response.ok) return { response }
      const newest = await listNewestSubmissions(api, form.formKey)
      const stored = newest.find(
        ({ test, fields }) => test && Object.entries(values).every(([name, value]) => fields[name] === value),
      )
      return { response, stored }
    },
    onSuccess({ response }) {
      if (!response.ok) return
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms'] })
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'submissions'] })
    },
  })
  const errors = send.data?.response.errors ?? {}
  const canEdit = useCanEdit()
  return (
    <div className="grid gap-4">
      <p className="text-soft">
        Send a test. It’s stored and marked as a test: it notifies nobody and counts nowhere.
        {!canEdit && ' Viewers can’t send it.'}
      </p>
      <Form
        noValidate
        className="grid gap-3"
        onSubmit={(fields) => {
          if (canEdit) send.mutate(fields)
        }}
      >
        {listFieldNames(form).map((name) => (
          <PreviewField key={name} name={name} form={form} error={findOwn(errors, name)} />
        ))}
        {form.uploads && <FileInput uploads={form.uploads} error={findOwn(errors, FILE_FIELD)} />}
        {form.consent && <ConsentBox consent={form.consent} error={findOwn(errors, form.consent.field)} />}
        <div>
          <Button type="submit" variant="primary" busy={send.isPending} disabled={!canEdit}>
            {send.isPending && form.captcha ? 'Solving the captcha…' : 'Send test'}
          </Button>
        </div>
      </Form>
      <div aria-live="polite">{send.data && <SendResultView form={form} result={send.data} />}</div>
    </div>
  )
}

interface FormResponse {
  status: number
  /** The response's body. */
  text: string
  ok: boolean
  error?: string
  errors: Record<string, string>
}

/**
 * Sends a form like a page would, with the captcha where the form has one. Posts to the path without the host, so that
 * it works under every host name of the server.
 */
async function sendForm(
  form: Pick<FormResource, 'formKey' | 'captcha'>,
  body: FormData,
): Promise<FormResponse> {
  if (form.captcha) {
    const token = await solveCaptcha(form.formKey)
    if (token) body.set('cf-turnstile-response', token)
  }
  const response = await fetch(`/f/${form.formKey}`, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    credentials: 'omit',
    body,
  })
  const text = await response.text()
  const json = parseBody(text)
  return { status: response.status, text, ok: json.ok === true, error: json.error, errors: json.errors ?? {} }
}

function parseBody(text: string): { ok?: boolean; error?: string; errors?: Record<string, string> } {
  try {
    return JSON.parse(text)
  } catch {
    return { error: 'The server’s response is not JSON.' }
  }
}

/**
 * Gets a challenge like a page does, and solves it.
 * @returns undefined for Cloudflare's captcha, which the dashboard cannot show
 */
async function solveCaptcha(formKey: string): Promise<string | undefined> {
  const response = await fetch(`/e/forms?keys=${formKey}`, { credentials: 'omit' })
  if (!response.ok) return undefined
  const { forms } = await response.json()
  const captcha = forms?.[formKey]?.captcha
  if (captcha?.provider !== 'altcha') return undefined
  const { solve } = await import('../../../snippet/proof-of-work.ts')
  return solve(captcha.challenge)
}

/** Messages have the names that senders chose, such as `constructor`. */
const findOwn = (errors: Record<string, string>, name: string) =>
  Object.hasOwn(errors, name) ? errors[name] : undefined

function PreviewField({ name, form, error }: { name: string; form: FormResource; error?: string }) {
  const title = toControlLabel(name, form)
  const label = form.requiredFields.includes(name) ? `${title} (required)` : title
  const type = toInputType(name, form.rules)
  const choices = Object.hasOwn(form.rules, name) ? form.rules[name]?.oneOf : undefined
  return (
    <Field label={label} error={error}>
      {(control) =>
        choices ? (
          <Select {...control} name={name}>
            <option value="">Choose</option>
            {choices.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </Select>
        ) : isLongText(name) && type === 'text' ? (
          <Textarea {...control} name={name} rows={3} />
        ) : (
          <Input {...control} name={name} type={type} autoComplete="off" />
        )
      }
    </Field>
  )
}

const FileInput = ({ uploads, error }: { uploads: NonNullable<FormResource['uploads']>; error?: string }) => (
  <Field
    label={uploads.maxFiles > 1 ? 'Files' : 'File'}
    hint={`At most ${formatCount(uploads.maxFiles, 'file')} of ${formatBytes(uploads.maxBytes)} each.`}
    error={error}
  >
    {(control) => (
      <input
        {...control}
        type="file"
        name={FILE_FIELD}
        accept={uploads.accept.join(',')}
        multiple={uploads.maxFiles > 1}
        className="w-full min-w-0 text-sm file:mr-3 file:rounded-lg file:border file:border-line file:bg-card file:px-3 file:py-1.5 file:font-medium file:text-ink"
      />
    )}
  </Field>
)

function ConsentBox({ consent, error }: { consent: NonNullable<FormResource['consent']>; error?: string }) {
  const id = useId()
  return (
    <div className="grid gap-1">
      <span className="flex items-start gap-2.5">
        <Checkbox
          id={id}
          name={consent.field}
          value="yes"
          className="mt-1 shrink-0"
          aria-invalid={error !== undefined}
          aria-describedby={error && `${id}-error`}
        />
        <label htmlFor={id} className="min-w-0 break-words">
          {consent.text}
        </label>
      </span>
      {error && (
        <p id={`${id}-error`} className="text-sm text-danger">
          {error}
        </p>
      )}
    </div>
  )
}

function SendResultView({ form, result: { response, stored } }: { form: FormResource; result: SendResult }) {
  const Icon = response.ok ? CircleCheck : CircleX
  return (
    <div className="grid gap-3 border-t border-line pt-4">
      <p className="flex items-start gap-2 font-medium">
        <Icon size={18} className={`mt-0.5 shrink-0 ${response.ok ? 'text-accent' : 'text-danger'}`} />
        <span>{response.ok ? (form.successMessage ?? 'Submission stored.') : explainRefusal(response)}</span>
      </p>
      <pre className="overflow-x-auto rounded-lg bg-sunken px-3 py-2 text-sm whitespace-pre-wrap break-all">
        {response.status} {response.text}
      </pre>
      {stored && <StoredSubmission submission={stored} />}
    </div>
  )
}

function explainRefusal({ status, error }: FormResponse): string {
  if (status === 403 && error === 'Origin not allowed')
    return 'The dashboard is not one of the allowed sites, so that this test is rejected. Your own pages are not affected.'
  if (status === 403) return 'This form is closed. Turn on “Accept submissions” in its settings.'
  if (status === 429)
    return 'Only 10 submissions per minute are allowed from one address. Wait a minute and try again.'
  if (error?.startsWith('Captcha'))
    return 'The captcha could not be solved here. On your page, the snippet shows it to people.'
  if (status === 422) return 'Correct the marked fields and send again.'
  return error ?? 'The submission was rejected.'
}

function StoredSubmission({ submission }: { submission: Submission }) {
  const api = useApi()
  const fields = Object.entries(submission.fields)
  return (
    <section aria-label="Stored submission" className="grid gap-3">
      <h3 className="text-sm font-medium">Stored as a test</h3>
      <dl className="grid grid-cols-[minmax(4rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        {fields.map(([name, value]) => (
          <div key={name} className="col-span-2 grid grid-cols-subgrid">
            <dt className="max-w-32 truncate text-soft">{name}</dt>
            <dd className="break-words">{value || <span className="text-soft">Empty</span>}</dd>
          </div>
        ))}
      </dl>
      {submission.files.length > 0 && (
        <p className="text-sm text-soft">{formatCount(submission.files.length, 'file')} stored.</p>
      )}
      {submission.status === 'spam' && (
        <p className="text-sm text-soft">Stored as spam: {submission.spamReasons.join(' ')}</p>
      )}
      {submission.status === 'unconfirmed' && (
        <p className="text-sm text-soft">It waits until the sender presses the button in the email.</p>
      )}
      {submission.duplicateOf !== null && (
        <p className="text-sm text-soft">
          The same submission arrived{' '}
          <Link
            to="/$workspaceId/inbox"
            params={{ workspaceId: String(api.workspaceId) }}
            search={{ open: String(submission.duplicateOf), status: 'all' }}
            className="font-medium text-accent underline underline-offset-2"
          >
            a moment ago
          </Link>
          , so this one is marked as a duplicate.
        </p>
      )}
      <div>
        <ButtonLink
          size="small"
          to="/$workspaceId/inbox"
          params={{ workspaceId: String(api.workspaceId) }}
          search={{ formKey: submission.formKey, open: String(submission.id) }}
        >
          Open in inbox
        </ButtonLink>
      </div>
    </section>
  )
}
