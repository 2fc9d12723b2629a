// The settings of a domain. Unsaved changes survive a visit to another page.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { toFieldErrors } from '../../api/client.ts'
import { type DomainResource, storeDomain, updateDomain } from '../../api/domains.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { Card } from '../../ui/card.tsx'
import { CODE_INPUT } from '../../ui/forms/control-class.ts'
import { Field, formatExample, Textarea, TextField, Toggle } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError, findFieldError } from '../../ui/forms/form-error.tsx'
import { SaveBar } from '../../ui/forms/save-bar.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import {
  DOMAIN_FIELDS,
  type DomainDraft,
  type DomainField,
  toDomainChanges,
  toDomainDraft,
  validateDomainDraft,
} from './domain-draft.ts'
import { usePrimaryDomain } from './use-primary-domain.ts'

/** Unsaved texts by domain, until the page is reloaded. */
const unsavedTexts = new Map<number, Partial<DomainDraft>>()

function useSettings(domain: DomainResource) {
  const api = useApi()
  const client = useQueryClient()
  const [texts, setTexts] = useState(() => unsavedTexts.get(domain.id) ?? {})
  const [invalid, setInvalid] = useState<Partial<DomainDraft>>({})
  const setUnsaved = (next: Partial<DomainDraft>) => {
    unsavedTexts.set(domain.id, next)
    setTexts(next)
  }
  const stored = toDomainDraft(domain)
  const draft: DomainDraft = { ...stored, ...texts }
  const save = useMutation({
    mutationFn: () => updateDomain(api, domain.id, toDomainChanges(domain, draft)),
    onSuccess(saved) {
      storeDomain(client, api, saved)
      setUnsaved({})
      toast('Settings saved')
    },
    onError() {},
  })
  return {
    draft,
    errors: { ...toFieldErrors(save.error, DOMAIN_FIELDS), ...invalid } as Record<string, string>,
    isChanged: DOMAIN_FIELDS.some((field) => draft[field].trim() !== stored[field].trim()),
    isSaving: save.isPending,
    discard() {
      setUnsaved({})
      setInvalid({})
      save.reset()
    },
    set(field: DomainField, text: string) {
      setUnsaved({ ...texts, [field]: text })
      // An error belongs to the text that was sent.
      setInvalid({ ...invalid, [field]: undefined })
      if (save.error) save.reset()
    },
    submit() {
      const problems = validateDomainDraft(draft)
      setInvalid(problems)
      if (Object.keys(problems).length === 0 && !save.isPending) save.mutate()
    },
  }
}

type Settings = ReturnType<typeof useSettings>

export function DomainSettings({ domain }: { domain: DomainResource }) {
  const settings = useSettings(domain)
  const canEdit = useCanEdit()
  return (
    <>
      <PrimarySetting domain={domain} />
      <Form noValidate className="grid grid-cols-1 gap-5" onSubmit={() => settings.submit()}>
        {settings.errors.general && <FormError>{settings.errors.general}</FormError>}
        <fieldset disabled={!canEdit} className="grid min-w-0 grid-cols-1 gap-5">
          <legend className="sr-only">Settings</legend>
          <Targets domain={domain} settings={settings} />
          <AppLinks settings={settings} />
        </fieldset>
        {canEdit && (
          <SaveBar
            isChanged={settings.isChanged}
            busy={settings.isSaving}
            hasErrors={Object.values(settings.errors).some(Boolean)}
            discard={settings.discard}
            keepsChanges
          />
        )}
      </Form>
    </>
  )
}

function PrimarySetting({ domain }: { domain: DomainResource }) {
  const primary = usePrimaryDomain()
  const canEdit = useCanEdit()
  return (
    <Card title="New links">
      <Toggle
        label="Primary domain"
        hint={
          domain.verified || domain.primary
            ? `New links use ${domain.domain}. You can choose another domain for each link.`
            : 'A domain can be the primary one once it is verified.'
        }
        checked={primary.isPending ? primary.variables.primary : domain.primary}
        disabled={!canEdit || !(domain.verified || domain.primary)}
        onChange={({ target }) => primary.isPending || primary.mutate({ domain, primary: target.checked })}
      />
    </Card>
  )
}

function useBinding({ draft, errors, set }: Settings) {
  return (field: DomainField) => ({
    value: draft[field],
    error: findFieldError(errors, field),
    onChange: ({ target }: { target: { value: string } }) => set(field, target.value),
  })
}

const URL_INPUT = { ...CODE_INPUT, inputMode: 'url' } as const

function Targets({ domain, settings }: { domain: DomainResource; settings: Settings }) {
  const bind = useBinding(settings)
  return (
    <Card title="Redirects for other visitors">
      <div className="grid grid-cols-1 gap-5">
        <TextField
          {...URL_INPUT}
          label="Root URL"
          placeholder={formatExample('https://example.com')}
          hint={`Visitors who open ${domain.domain} without a short link go here. Leave empty for a plain page.`}
          {...bind('rootUrl')}
        />
        <TextField
          {...URL_INPUT}
          label="Not found URL"
          placeholder={formatExample('https://example.com/search?q={slug}')}
          hint={
            <>
              For short links that don’t exist. <code>{'{slug}'}</code> becomes the requested slug. Leave
              empty for the page “Link not found”.
            </>
          }
          {...bind('notFoundUrl')}
        />
        <TextField
          {...URL_INPUT}
          label="Expiration URL"
          placeholder={formatExample('https://example.com/expired?link={slug}')}
          hint={
            <>
              For expired links without their own expiration URL. <code>{'{slug}'}</code> works here too.
              Leave empty for the page “Link expired”.
            </>
          }
          {...bind('expiredUrl')}
        />
      </div>
    </Card>
  )
}

function AppLinks({ settings }: { settings: Settings }) {
  const bind = useBinding(settings)
  return (
    <Card title="Open links in your app">
      <div className="grid grid-cols-1 gap-5">
        <JsonField
          label="Android app links"
          hint="JSON for /.well-known/assetlinks.json."
          {...bind('assetLinks')}
        />
        <JsonField
          label="iOS universal links"
          hint="JSON for /.well-known/apple-app-site-association."
          {...bind('appleAppSiteAssociation')}
        />
      </div>
    </Card>
  )
}

interface JsonFieldProps {
  label: string
  hint: string
  value: string
  error: string | undefined
  onChange: (event: { target: { value: string } }) => void
}

const JsonField = ({ label, hint, error, ...text }: JsonFieldProps) => (
  <Field label={label} hint={hint} error={error} className="grid-cols-1">
    {(control) => <Textarea {...control} {...text} rows={5} {...CODE_INPUT} className="font-mono text-sm" />}
  </Field>
)
