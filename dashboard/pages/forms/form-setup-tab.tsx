// The setup of a form in three steps: the snippet, the form's code, a test.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { snippetQuery } from '../../api/forms.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { CodeBlock } from '../../ui/copy/code-block.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { fetchExample, htmlExample, reactExample } from './form-examples.ts'
import { FormNotes } from './form-notes.tsx'
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
      <p className="text-soft">
        Copy a finished form{' '}
        <Link
          to="/$workspaceId/forms/$formKey"
          from="/$workspaceId/forms/$formKey"
          search={{ tab: 'gallery' }}
          className="text-link"
        >
          from the gallery
        </Link>
        , or start with plain code:
      </p>
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
      {language && (
        <CodeBlock
          code={language.write(form)}
          label={`Form as ${language.label}`}
          language={languageId === 'react' ? 'js' : 'html'}
        />
      )}
      <FormNotes form={form} language={languageId} />
    </div>
  )
}
