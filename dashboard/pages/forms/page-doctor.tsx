// Looks at the page that a form stands on, before visitors find out what is wrong with it.

import { useMutation, useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleX, Info, Stethoscope, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { ApiError } from '../../api/client.ts'
import { checkForm, type Finding, type FormCheck, type PageSource } from '../../api/forms.ts'
import { listNewestSubmissions } from '../../api/submissions.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy/copy-button.tsx'
import { formatCount } from '../../ui/format.ts'
import { Field, Textarea, TextField } from '../../ui/forms/field.tsx'
import { FormError, findFieldError } from '../../ui/forms/form-error.tsx'
import { Card } from '../../ui/page.tsx'
import { TEXT_LINK } from '../../ui/text-link.ts'

export default function PageDoctor({ form }: { form: FormResource }) {
  const api = useApi()
  const [pasted, setPasted] = useState(false)
  const check = useMutation({
    mutationFn: (page: PageSource) => checkForm(api, form.formKey, page),
    onError() {},
  })
  const errors = check.error instanceof ApiError ? check.error.errors : {}
  return (
    <div className="grid max-w-3xl gap-5">
      <Card title="Check the page with the form">
        <form
          noValidate
          className="grid gap-4"
          onSubmit={(event) => {
            event.preventDefault()
            const given = new FormData(event.currentTarget)
            const text = (name: string) => String(given.get(name) ?? '').trim()
            check.mutate(
              pasted
                ? { html: text('html'), ...(text('pageUrl') ? { pageUrl: text('pageUrl') } : {}) }
                : { url: text('url') },
            )
          }}
        >
          <p className="text-soft">
            Reads the page and says what will go wrong: a wrong address, fields that get lost, a policy that
            forbids sending. Nothing is submitted.
          </p>
          {check.error && Object.keys(errors).length === 0 && <FormError>{check.error.message}</FormError>}
          {pasted ? (
            <HtmlFields errors={errors} />
          ) : (
            <AddressField form={form} error={findFieldError(errors, 'url')} />
          )}
          <div className="flex flex-wrap items-center gap-4">
            <Button type="submit" look="primary" icon={<Stethoscope size={16} />} busy={check.isPending}>
              Check the page
            </Button>
            <button type="button" className={TEXT_LINK} onClick={() => setPasted(!pasted)}>
              {pasted ? 'Fetch it by its address' : 'Paste its HTML instead'}
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

/** Where the last submission was sent from, where that is known. */
function AddressField({ form, error }: { form: FormResource; error: string | undefined }) {
  const api = useApi()
  const known = useQuery({
    queryKey: [api.workspaceId, 'submissions', 'page of', form.formKey],
    queryFn: async () => {
      const pages = (await listNewestSubmissions(api, form.formKey)).map(({ pageUrl }) => pageUrl)
      return pages.find((page) => page && !page.startsWith(`${location.origin}/app`))?.split(/[?#]/)[0] ?? ''
    },
    staleTime: 60_000,
  })
  return (
    <TextField
      key={known.data ?? ''}
      label="Address of the page"
      name="url"
      type="url"
      inputMode="url"
      placeholder="https://example.com/contact"
      defaultValue={known.data}
      hint="It must be public: this server fetches it."
      error={error}
    />
  )
}

const HtmlFields = ({ errors }: { errors: Record<string, string> }) => (
  <>
    <Field label="HTML of the page" error={findFieldError(errors, 'html')}>
      {(control) => (
        <Textarea {...control} name="html" rows={8} spellCheck={false} className="font-mono text-sm" />
      )}
    </Field>
    <TextField
      label="Where that page is (optional)"
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
  const rest = check.findings.length - errors
  return (
    <Card
      title={
        check.findings.length === 0
          ? 'Nothing is wrong with this page'
          : [errors > 0 && formatCount(errors, 'error'), rest > 0 && formatCount(rest, 'remark')]
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
  error: { icon: CircleX, word: 'Error', tone: 'text-danger' },
  warning: { icon: TriangleAlert, word: 'Warning', tone: 'text-warn' },
  info: { icon: Info, word: 'Note', tone: 'text-soft' },
}

function FindingItem({ finding }: { finding: Finding }) {
  const { icon: Icon, word, tone } = SEVERITIES[finding.severity]
  return (
    <li className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2.5">
      <Icon size={18} aria-hidden className={`mt-0.5 ${tone}`} />
      <div className="grid gap-1">
        <p className="break-words">
          <span className={`font-semibold ${tone}`}>{word}. </span>
          {finding.message}
        </p>
        <Fix text={finding.fix} />
      </div>
    </li>
  )
}

/** Where it says what to paste, that is to be copied. */
function Fix({ text }: { text: string }) {
  const line = /<[a-z/].*>/is.exec(text)?.[0]
  if (!line) return <p className="break-words text-soft">{text}</p>
  const [before, after] = text.split(line)
  return (
    <p className="break-words text-soft">
      {before}
      <code className="rounded bg-sunken px-1 py-0.5 break-all">{line}</code>
      <span className="inline-flex align-middle">
        <CopyButton text={line} label="Copy this line" />
      </span>
      {after}
    </p>
  )
}
