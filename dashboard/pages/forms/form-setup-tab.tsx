// How the form comes onto a page, in three steps: the snippet, the form, a try.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { snippetQuery } from '../../api/forms.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { classNames } from '../../ui/class-names.ts'
import { CodeBlock } from '../../ui/copy/code-block.tsx'
import { Card } from '../../ui/page.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { TEXT_LINK } from '../../ui/text-link.ts'
import { fetchExample, htmlExample, reactExample } from './form-examples.ts'
import { FormPreview } from './form-preview.tsx'

export default function FormSetupTab({ form }: { form: FormResource }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <Card title="1. The snippet, once on every page">
          <Snippet />
        </Card>
        <Card title="2. The form">
          <Examples form={form} />
        </Card>
      </div>
      <Card title="3. Try it" className="min-w-0">
        <FormPreview form={form} />
      </Card>
    </div>
  )
}

function Snippet() {
  const api = useApi()
  const snippet = useQuery(snippetQuery(api))
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <p className="text-soft">
        One line for the head of your pages. It remembers which link and campaign brought the visitor, without
        cookies, and lets people stay on the page when they send a form. Forms work without it too.
      </p>
      {snippet.isError ? (
        <ErrorState error={snippet.error} retry={() => void snippet.refetch()} />
      ) : snippet.data ? (
        <CodeBlock code={snippet.data} label="The snippet" />
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
  const [chosen, choose] = useState('html')
  const language = LANGUAGES.find(({ id }) => id === chosen)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <fieldset className="flex flex-wrap items-center gap-1">
        <legend className="sr-only">Written as</legend>
        {LANGUAGES.map(({ id, label }) => (
          <label
            key={id}
            className={classNames(
              'cursor-pointer rounded-lg px-2.5 py-1 text-sm font-medium has-focus-visible:outline-2 has-focus-visible:outline-accent',
              id === chosen ? 'bg-tint text-accent' : 'text-soft hover:bg-hover hover:text-ink',
            )}
          >
            <input
              type="radio"
              name="language"
              value={id}
              checked={id === chosen}
              onChange={() => choose(id)}
              className="sr-only"
            />
            {label}
          </label>
        ))}
      </fieldset>
      {language && <CodeBlock code={language.write(form)} label={`The form as ${language.label}`} />}
      <Notes form={form} language={chosen} />
    </div>
  )
}

function Notes({ form, language }: { form: FormResource; language: string }) {
  const notes: ReactNode[] = [
    'Name the fields as you like: whatever is sent is stored under the names it came with. Names that begin with _ are not.',
  ]
  if (form.captcha)
    notes.push(
      language === 'html'
        ? 'This form has a captcha. The snippet shows it, and fills it in.'
        : 'This form has a captcha, which the snippet fills in for forms that have this address as their action: use the HTML with the snippet.',
    )
  if (form.requiredFields.length > 0)
    notes.push('The server refuses a submission without the fields that are marked as required.')
  if (language === 'html' && !form.redirectUrl)
    notes.push(
      <>
        Without JavaScript the browser goes back to where it came from, and most browsers name only your site:
        it lands on the first page. Set{' '}
        <Link
          to="/$workspaceId/forms/$formKey"
          from="/$workspaceId/forms/$formKey"
          search={{ tab: 'settings' }}
          className={TEXT_LINK}
        >
          where it goes after sending
        </Link>{' '}
        to be sure.
      </>,
    )
  return (
    <ul className="grid list-disc gap-1.5 pl-5 text-sm text-soft">
      {notes.map((note, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they stay in their order
        <li key={at}>{note}</li>
      ))}
    </ul>
  )
}
