// Checks a page that has the form, and lists problems and their fixes.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, CircleX, Info, Stethoscope, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { toFieldErrors } from '../../api/client.ts'
import { translateFinding } from '../../api/finding-texts.ts'
import {
  checkForm,
  type Finding,
  type FormCheck,
  formQuery,
  type PageSource,
  updateForm,
} from '../../api/forms.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy/copy-button.tsx'
import { formatCount } from '../../ui/format.ts'
import { Field, formatExample, Textarea, TextField } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError, findFieldError } from '../../ui/forms/form-error.tsx'
import { toast, toastError } from '../../ui/overlays/toast.tsx'
import { usePageSuggestion } from './settings/groups/use-page-suggestion.ts'

export default function PageCheck({ form }: { form: FormResource }) {
  const api = useApi()
  const [isPasting, setPasting] = useState(false)
  const labels = useSaveLabels(form)
  const check = useMutation({
    mutationFn: (page: PageSource) => checkForm(api, form.formKey, page),
    onSuccess: labels.save,
    onError() {},
  })
  const errors = toFieldErrors(check.error, ['url', 'html', 'pageUrl'])
  return (
    <div className="grid max-w-3xl gap-5">
      <Card title="Check your page">
        <Form
          noValidate
          className="grid gap-4"
          onSubmit={(fields) => {
            const text = (name: string) => String(fields.get(name) ?? '').trim()
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
            <button type="button" className="text-link" onClick={() => setPasting(!isPasting)}>
              {isPasting ? 'Enter the page URL instead' : 'Paste the HTML instead'}
            </button>
          </div>
        </Form>
      </Card>
      <div aria-live="polite" aria-busy={check.isPending}>
        {check.data && <Result check={check.data} />}
        {labels.saved > 0 && (
          <p className="mt-4 flex items-start gap-2 text-soft">
            <CircleCheck size={18} aria-hidden className="mt-0.5 shrink-0 text-accent" />
            <span className="min-w-0 break-words">
              {formatCount(labels.saved, 'label')} of your page saved. Your inbox shows them in place of field
              names.
            </span>
          </p>
        )}
        {check.data?.hasForm && check.data.url && <PageOffer form={form} page={check.data.url} />}
      </div>
    </div>
  )
}

/** Saves the page's labels for fields without a label. It does not replace a label that a person has written. */
function useSaveLabels(form: FormResource) {
  const api = useApi()
  const client = useQueryClient()
  const canEdit = useCanEdit()
  const [saved, setSaved] = useState(0)
  const save = async ({ labels }: FormCheck) => {
    setSaved(0)
    const isNew = ([name]: [string, string]) => !Object.hasOwn(form.fieldLabels, name)
    const found = Object.entries(labels).filter(isNew)
    if (!canEdit || found.length === 0) return
    try {
      const fieldLabels = { ...Object.fromEntries(found), ...form.fieldLabels }
      const changed = await updateForm(api, form.formKey, { fieldLabels })
      client.setQueryData(formQuery(api, form.formKey).queryKey, changed)
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms', 'names'] })
      setSaved(found.length)
    } catch (error) {
      toastError(error as Error, 'Couldn’t save the labels of your page')
    }
  }
  return { save, saved }
}

/** Starts with the form's page, or else with the page of the last submission. */
function PageUrlField({ form, error }: { form: FormResource; error: string | undefined }) {
  const suggestion = usePageSuggestion(form)
  const known = form.pageUrl ?? suggestion ?? ''
  return (
    <TextField
      key={known}
      label="Page URL"
      name="url"
      type="url"
      inputMode="url"
      placeholder={formatExample('https://example.com/contact')}
      defaultValue={known}
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
      placeholder={formatExample('https://example.com/contact')}
      error={findFieldError(errors, 'pageUrl')}
    />
  </>
)

/** The check has found the form on the page: offers to remember the page, which leads senders back to it. */
function PageOffer({ form, page }: { form: FormResource; page: string }) {
  const api = useApi()
  const client = useQueryClient()
  const canEdit = useCanEdit()
  const [saved, setSaved] = useState(false)
  const save = useMutation({
    mutationFn: () => updateForm(api, form.formKey, { pageUrl: page }),
    onSuccess(saved) {
      client.setQueryData(formQuery(api, form.formKey).queryKey, saved)
      toast('Page saved')
      setSaved(true)
    },
    onError() {},
  })
  if (!canEdit) return null
  if (form.pageUrl === page) {
    return (
      // The focus stays where the button was.
      <p
        ref={(line) => {
          if (saved) line?.focus()
        }}
        tabIndex={-1}
        className="mt-4 flex items-start gap-2 text-soft"
      >
        <CircleCheck size={18} aria-hidden className="mt-0.5 shrink-0 text-accent" />
        <span className="min-w-0 break-words">This is the page of the form. Senders are led back to it.</span>
      </p>
    )
  }
  return (
    <Card className="mt-4">
      <div className="grid gap-3">
        <p className="break-words">
          The form is on this page. Browsers tell us only the site: save the page, so senders are led back to
          it.{form.pageUrl && ` It replaces ${form.pageUrl}.`}
        </p>
        {save.error && <FormError>{save.error.message}</FormError>}
        <div>
          <Button busy={save.isPending} onClick={() => save.mutate()}>
            Save as the form’s page
          </Button>
        </div>
      </div>
    </Card>
  )
}

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
          {translateFinding(finding.message)}
        </p>
        <Fix text={translateFinding(finding.fix)} />
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
