// The setup of a form in three steps: the snippet, the form's code, a test.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { snippetQuery } from '../../api/forms.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { CodeBlock } from '../../ui/copy/code-block.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { TEXT_LINK } from '../../ui/text-link.ts'
import { fetchExample, htmlExample, reactExample } from './form-examples.ts'
import { FormPreview } from './form-preview.tsx'

export default function FormSetupTab({ form }: { form: FormResource }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <Card title="1. Add the snippet to every page">
          <Snippet form={form} />
        </Card>
        <Card title="2. Add the form">
          <Examples form={form} />
        </Card>
      </div>
      <Card title="3. Try it" className="min-w-0">
        <FormPreview form={form} />
      </Card>
    </div>
  )
}

function Snippet({ form }: { form: FormResource }) {
  const api = useApi()
  const snippet = useQuery(snippetQuery(api))
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <p className="text-soft">
        Add this line to the head of your pages. It remembers which link and campaign brought a visitor,
        without cookies, and lets people stay on the page when they send a form.{' '}
        {form.captcha
          ? 'This form needs it: the snippet shows the captcha, and submissions without one are rejected.'
          : 'This form also works without it.'}
      </p>
      {snippet.isError ? (
        <ErrorState error={snippet.error} retry={() => void snippet.refetch()} />
      ) : snippet.data ? (
        <CodeBlock code={snippet.data} label="Snippet" />
      ) : (
        <Skeleton className="h-14" />
      )}
    </div>
  )
}

const LANGUAGES = [
  { id: 'html', label: 'HTML', write: htmlExample },
  { id: 'fetch', label: 'fetch', write: fetchExample },
  { id: 'react', label: 'React', write: reactExample },
]

function Examples({ form }: { form: FormResource }) {
  const [languageId, setLanguageId] = useState('html')
  const language = LANGUAGES.find(({ id }) => id === languageId)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <fieldset className="flex flex-wrap items-center gap-1">
        <legend className="sr-only">Language</legend>
        {LANGUAGES.map(({ id, label }) => (
          <label
            key={id}
            className={classNames(
              'cursor-pointer rounded-lg px-2.5 py-1 text-sm font-medium has-focus-visible:outline-2 has-focus-visible:outline-accent',
              id === languageId ? 'bg-tint text-accent' : 'text-soft hover:bg-hover hover:text-ink',
            )}
          >
            <input
              type="radio"
              name="language"
              value={id}
              checked={id === languageId}
              onChange={() => setLanguageId(id)}
              className="sr-only"
            />
            {label}
          </label>
        ))}
      </fieldset>
      {language && <CodeBlock code={language.write(form)} label={`Form as ${language.label}`} />}
      <Notes form={form} language={languageId} />
    </div>
  )
}

/** The pages that senders see with this code, in sentences. */
function describeSending(form: FormResource, language: string): ReactNode[] {
  if (language !== 'html')
    return [
      'Senders stay on the page. The script shows the success message, the errors, or a notice that sending failed.',
    ]
  const page = form.pageUrl ?? 'your home page, because browsers send only your site’s address'
  const success =
    form.redirectUrl ??
    (form.afterSubmit === 'hosted' ? 'a thank-you page of this server with a link back' : page)
  const mistake =
    form.onError === 'hosted' ? 'a page of this server that lists the errors' : `${page} and no message`
  return [
    'With the snippet, senders stay on the page and see the success message or the errors at the form.',
    <>
      Without it, senders see {success} after sending, and {mistake} after a mistake.{' '}
      <Link
        to="/$workspaceId/forms/$formKey"
        from="/$workspaceId/forms/$formKey"
        search={{ tab: 'settings', page: 'sending' }}
        className={TEXT_LINK}
      >
        Choose what senders see
      </Link>
    </>,
  ]
}

function Notes({ form, language }: { form: FormResource; language: string }) {
  const notes: ReactNode[] = [
    ...describeSending(form, language),
    'Name the fields as you like: each value is stored under its own name. Fields whose names begin with _ aren’t stored.',
  ]
  if (form.captcha)
    notes.push(
      language === 'html'
        ? 'This form has a captcha. The snippet shows it and fills it in.'
        : 'This form has a captcha. The snippet fills it in only for HTML forms: use the HTML code with the snippet.',
    )
  if (form.uploads && language === 'html')
    notes.push(
      'The form takes files: keep enctype="multipart/form-data", without which browsers send only their names.',
    )
  if (Object.keys(form.messages).length > 0)
    notes.push(
      'The hidden field _lang names the language of the messages. Without it, the browser’s language decides.',
    )
  if (form.consent)
    notes.push('Show the text beside the checkbox as it is in the settings: it is stored with the consent.')
  if (form.requiredFields.length > 0) notes.push('Submissions without the required fields are rejected.')
  return (
    <ul className="grid list-disc gap-1.5 pl-5 text-sm wrap-anywhere text-soft">
      {notes.map((note, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of the notes does not change
        <li key={at}>{note}</li>
      ))}
    </ul>
  )
}
