// Checks a page that has the form, and lists problems and their fixes.

import { useMutation, useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleX, Info, Stethoscope, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { toFieldErrors } from '../../api/client.ts'
import { checkForm, type Finding, type FormCheck, type PageSource } from '../../api/forms.ts'
import { listNewestSubmissions } from '../../api/submissions.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy/copy-button.tsx'
import { formatCount } from '../../ui/format.ts'
import { Field, Textarea, TextField } from '../../ui/forms/field.tsx'
import { FormError, findFieldError } from '../../ui/forms/form-error.tsx'
import { TEXT_LINK } from '../../ui/text-link.ts'

export default function PageDoctor({ form }: { form: FormResource }) {
  const api = useApi()
  const [isPasting, setPasting] = useState(false)
  const check = useMutation({
    mutationFn: (page: PageSource) => checkForm(api, form.formKey, page),
    onError() {},
  })
  const errors = toFieldErrors(check.error)
  return (
    <div className="grid max-w-3xl gap-5">
      <Card title="Check your page">
        <form
          noValidate
          className="grid gap-4"
          onSubmit={(event) => {
            event.preventDefault()
            const data = new FormData(event.currentTarget)
            const text = (name: string) => String(data.get(name) ?? '').trim()
            check.mutate(
              isPasting
                ? { html: text('html'), ...(text('pageUrl') ? { pageUrl: text('pageUrl') } : {}) }
                : { url: text('url') },
            )
          }}
        >
          <p className="text-soft">
            Finds problems before your visitors do: a wrong endpoint, fields that get lost, a policy that
            blocks sending. Nothing is submitted.
          </p>
          {errors.general && <FormError>{errors.general}</FormError>}{' '}
          {isPasting ? (
            <HtmlFields errors={errors} />
          ) : (
            <PageUrlField form={form} error={findFieldError(errors, 'url')} />
          )}
          <div className="flex flex-wrap items-center gap-4">
            <Button type="submit" variant="primary" icon={<Stethoscope size={16} />} busy={check.isPending}>
              Check page
            </Button>
            <button type="button" className={TEXT_LINK} onClick={() => setPasting(!isPasting)}>
              {isPasting ? 'Enter the page URL instead' : 'Paste the HTML instead'}
            </button>
          </div>
        </form>
      </Card>
      <div aria-live="polite" aria-busy={check.isPending}>
        {check.data && <Result check={check.data} />}
      </div>
    </div>
  )
}

/** Starts with the page of the last submission, where it is known. */
function PageUrlField({ form, error }: { form: FormResource; error: string | undefined }) {
  const api = useApi()
  const lastPage = useQuery({
    queryKey: [api.workspaceId, 'submissions', 'page of', form.formKey],
    queryFn: async () => {
      const pages = (await listNewestSubmissions(api, form.formKey)).map(({ pageUrl }) => pageUrl)
      return pages.find((page) => page && !page.startsWith(`${location.origin}/app`))?.split(/[?#]/)[0] ?? ''
    },
    staleTime: 60_000,
  })
  return (
    <TextField
      key={lastPage.data ?? ''}
      label="Page URL"
      name="url"
      type="url"
      inputMode="url"
      placeholder="https://example.com/contact"
      defaultValue={lastPage.data}
      hint="The page must be public: this server fetches it."
      error={error}
    />
  )
}

const HtmlFields = ({ errors }: { errors: Record<string, string> }) => (
  <>
    <Field label="Page HTML" error={findFieldError(errors, 'html')}>
      {(control) => (
        <Textarea {...control} name="html" rows={8} spellCheck={false} className="font-mono text-sm" />
      )}
    </Field>
    <TextField
      label="Page URL (optional)"
      name="pageUrl"
      type="url"
      inputMode="url"
      placeholder="https://example.com/contact"
      error={findFieldError(errors, 'pageUrl')}
    />
  </>
)

function Result({ check }: { check: FormCheck }) {
  const errors = check.findings.filter(({ severity }) => severity === 'error').length
  const others = check.findings.length - errors
  return (
    <Card
      title={
        check.findings.length === 0
          ? 'No problems found'
          : [errors > 0 && formatCount(errors, 'error'), others > 0 && formatCount(others, 'other finding')]
              .filter(Boolean)
              .join(', ')
      }
    >
      {check.ok && (
        <p className="flex items-start gap-2">
          <CircleCheck size={18} className="mt-0.5 shrink-0 text-accent" />
          Submissions from this page arrive.
        </p>
      )}
      <ul className="grid gap-4 not-first:mt-4">
        {check.findings.map((finding) => (
          <FindingItem key={finding.code + finding.message} finding={finding} />
        ))}
      </ul>
    </Card>
  )
}

const SEVERITIES = {
  error: { icon: CircleX, label: 'Error', tone: 'text-danger' },
  warning: { icon: TriangleAlert, label: 'Warning', tone: 'text-warn' },
  info: { icon: Info, label: 'Note', tone: 'text-soft' },
}

function FindingItem({ finding }: { finding: Finding }) {
  const { icon: Icon, label, tone } = SEVERITIES[finding.severity]
  return (
    <li className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2.5">
      <Icon size={18} aria-hidden className={`mt-0.5 ${tone}`} />
      <div className="grid gap-1">
        <p className="break-words">
          <span className={`font-semibold ${tone}`}>{label}: </span>
          {finding.message}
        </p>
        <Fix text={finding.fix} />
      </div>
    </li>
  )
}

/** The fix of a finding. HTML inside of it gets a copy button. */
function Fix({ text }: { text: string }) {
  const line = /<[a-z/].*>/is.exec(text)?.[0]
  if (!line) return <p className="break-words text-soft">{text}</p>
  const [before, after] = text.split(line)
  return (
    <p className="break-words text-soft">
      {before}
      <code className="rounded bg-sunken px-1 py-0.5 break-all">{line}</code>
      <span className="inline-flex align-middle">
        <CopyButton text={line} label="Copy code" />
      </span>
      {after}
    </p>
  )
}
