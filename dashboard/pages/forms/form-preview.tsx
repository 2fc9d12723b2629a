// A form that works: it is really sent, and shows what was answered and what was stored.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleX } from 'lucide-react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { listNewestSubmissions, type Submission } from '../../api/submissions.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Field, Input, Textarea } from '../../ui/forms/field.tsx'
import { isEmailName, isLongText, listFieldNames, toFieldLabel } from './form-examples.ts'
import { type FormResponse, sendForm } from './send-form.ts'

interface SendResult {
  answer: FormResponse
  stored?: Submission
}

const toTextFields = (body: FormData) =>
  Object.fromEntries([...body].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))

export function FormPreview({ form }: { form: FormResource }) {
  const api = useApi()
  const client = useQueryClient()
  const send = useMutation({
    async mutationFn(body: FormData): Promise<SendResult> {
      const sent = toTextFields(body)
      const answer = await sendForm(form, body)
      if (!answer.ok) return { answer }
      const found = await listNewestSubmissions(api, form.formKey)
      const stored = found.find(({ fields }) =>
        Object.entries(sent).every(([name, value]) => fields[name] === value),
      )
      return { answer, stored }
    },
    onSuccess({ answer }) {
      if (!answer.ok) return
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms'] })
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'submissions'] })
    },
  })
  const errors = send.data?.answer.errors ?? {}
  return (
    <div className="grid gap-4">
      <p className="text-soft">This one is real: what you send is stored, and your channels are told.</p>
      <form
        noValidate
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          send.mutate(new FormData(event.currentTarget))
        }}
      >
        {listFieldNames(form).map((name) => (
          <PreviewField
            key={name}
            name={name}
            required={form.requiredFields.includes(name)}
            error={Object.hasOwn(errors, name) ? errors[name] : undefined}
          />
        ))}
        <div>
          <Button type="submit" look="primary" busy={send.isPending}>
            {send.isPending && form.captcha ? 'Solving the captcha' : 'Send'}
          </Button>
        </div>
      </form>
      <div aria-live="polite">{send.data && <SendResultView form={form} outcome={send.data} />}</div>
    </div>
  )
}

const PreviewField = ({ name, required, error }: { name: string; required: boolean; error?: string }) => (
  <Field label={required ? `${toFieldLabel(name)} (required)` : toFieldLabel(name)} error={error}>
    {(control) =>
      isLongText(name) ? (
        <Textarea {...control} name={name} rows={3} />
      ) : (
        <Input {...control} name={name} type={isEmailName(name) ? 'email' : 'text'} autoComplete="off" />
      )
    }
  </Field>
)

function SendResultView({ form, outcome: { answer, stored } }: { form: FormResource; outcome: SendResult }) {
  const Icon = answer.ok ? CircleCheck : CircleX
  return (
    <div className="grid gap-3 border-t border-line pt-4">
      <p className="flex items-start gap-2 font-medium">
        <Icon size={18} className={`mt-0.5 shrink-0 ${answer.ok ? 'text-accent' : 'text-danger'}`} />
        <span>
          {answer.ok ? (form.successMessage ?? 'It was taken and stored.') : explainRefusal(answer)}
        </span>
      </p>
      <pre className="overflow-x-auto rounded-lg bg-sunken px-3 py-2 text-sm whitespace-pre-wrap break-all">
        {answer.status} {answer.text}
      </pre>
      {stored && <StoredSubmission submission={stored} />}
    </div>
  )
}

function explainRefusal({ status, error }: FormResponse): string {
  if (status === 403 && error === 'Origin not allowed')
    return 'The settings allow this form on certain sites only, and the dashboard is not one of them. That works as it should.'
  if (status === 403) return 'The form is switched off in its settings.'
  if (status === 429) return 'Ten a minute from one address are enough. Wait a minute.'
  if (error?.startsWith('Captcha'))
    return 'The captcha could not be solved here. On your page, the snippet shows it to people.'
  if (status === 422) return 'Something is missing: it says so at the field, as on your page.'
  return error ?? 'It was not taken.'
}

function StoredSubmission({ submission }: { submission: Submission }) {
  const api = useApi()
  const fields = Object.entries(submission.fields)
  return (
    <section aria-label="What was stored" className="grid gap-3">
      <h3 className="text-sm font-medium">Stored as submission {submission.id}</h3>
      <dl className="grid grid-cols-[minmax(4rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        {fields.map(([name, value]) => (
          <div key={name} className="col-span-2 grid grid-cols-subgrid">
            <dt className="max-w-32 truncate text-soft">{name}</dt>
            <dd className="break-words">{value || <span className="text-soft">empty</span>}</dd>
          </div>
        ))}
      </dl>
      {submission.duplicateOf !== null && (
        <p className="text-sm text-soft">
          The same came{' '}
          <Link
            to="/$workspaceId/inbox"
            params={{ workspaceId: String(api.workspaceId) }}
            search={{ open: String(submission.duplicateOf), status: 'all' }}
            className="font-medium text-accent underline underline-offset-2"
          >
            a moment ago
          </Link>
          , so that this one is marked as a duplicate and nobody is told.
        </p>
      )}
      <div>
        <ButtonLink
          size="small"
          to="/$workspaceId/inbox"
          params={{ workspaceId: String(api.workspaceId) }}
          search={{ formKey: submission.formKey, open: String(submission.id) }}
        >
          Open it in the inbox
        </ButtonLink>
      </div>
    </section>
  )
}
