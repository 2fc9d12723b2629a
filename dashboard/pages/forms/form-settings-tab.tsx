// The settings of a form. Unsaved changes survive a switch to another tab.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { toFieldErrors } from '../../api/client.ts'
import { formQuery, updateForm } from '../../api/forms.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { TextField, Toggle } from '../../ui/forms/field.tsx'
import { FormError, findFieldError } from '../../ui/forms/form-error.tsx'
import { SaveBar } from '../../ui/forms/save-bar.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { ChannelChoice } from './channel-choice.tsx'
import { DangerZone } from './danger-zone.tsx'
import { ListField } from './list-field.tsx'
import { AfterSendingChoice, OnErrorChoice, PageUrlInput } from './sending-fields.tsx'
import { usePageSuggestion } from './use-page-suggestion.ts'

const SETTING_NAMES = [
  'name',
  'enabled',
  'requiredFields',
  'redirectUrl',
  'pageUrl',
  'afterSubmit',
  'onError',
  'captcha',
  'successMessage',
  'allowedOrigins',
  'nextHosts',
  'channelIds',
] as const
type FormDraft = Pick<FormResource, (typeof SETTING_NAMES)[number]>

/** Unsaved changes by form key, until the page is reloaded. */
const unsavedChanges = new Map<string, Partial<FormDraft>>()

const isEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** Errors of other fields are shown above the form, with the names of their fields. */
const SHOWN_FIELDS = [
  'name',
  'requiredFields',
  'successMessage',
  'pageUrl',
  'redirectUrl',
  'nextHosts',
  'allowedOrigins',
  'channelIds',
]

export default function FormSettingsTab({ form }: { form: FormResource }) {
  const api = useApi()
  const client = useQueryClient()
  const canEdit = useCanEdit()
  const [changed, setChanged] = useState<Partial<FormDraft>>(() => unsavedChanges.get(form.formKey) ?? {})
  const setUnsaved = (next: Partial<FormDraft>) => {
    unsavedChanges.set(form.formKey, next)
    setChanged(next)
  }
  const draft: FormDraft = { ...form, ...changed }
  const changes = Object.fromEntries(
    SETTING_NAMES.filter((name) => !isEqual(draft[name], form[name])).map((name) => [name, draft[name]]),
  ) as Partial<FormDraft>
  const isChanged = Object.keys(changes).length > 0
  const save = useMutation({
    mutationFn: () => updateForm(api, form.formKey, changes),
    onSuccess(saved) {
      client.setQueryData(formQuery(api, form.formKey).queryKey, saved)
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms', 'list'] })
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms', 'names'] })
      setUnsaved({})
      toast('Settings saved')
    },
    onError() {},
  })
  const errors = toFieldErrors(save.error, SHOWN_FIELDS)
  const set = (part: Partial<FormDraft>) => setUnsaved({ ...changed, ...part })
  return (
    <form
      noValidate
      className="grid max-w-3xl gap-5"
      onSubmit={(event) => {
        event.preventDefault()
        if (isChanged) save.mutate()
      }}
    >
      {errors.general && <FormError>{errors.general}</FormError>}
      <fieldset disabled={!canEdit} className="grid min-w-0 gap-5">
        <legend className="sr-only">Settings</legend>
        <Basics draft={draft} set={set} errors={errors} />
        <AfterSending draft={draft} set={set} errors={errors} formKey={form.formKey} />
        <SpamProtection draft={draft} set={set} errors={errors} />
        <Card title="Notifications">
          <ChannelChoice
            selected={draft.channelIds}
            onChange={(channelIds) => set({ channelIds })}
            error={findFieldError(errors, 'channelIds')}
          />
        </Card>
      </fieldset>
      {canEdit && (
        <>
          <SaveBar
            isChanged={isChanged}
            busy={save.isPending}
            hasErrors={Object.keys(errors).length > 0}
            discard={() => {
              setUnsaved({})
              save.reset()
            }}
          />
          <DangerZone form={form} />
        </>
      )}
    </form>
  )
}

interface PartProps {
  draft: FormDraft
  set: (part: Partial<FormDraft>) => void
  errors: Record<string, string>
}

const Basics = ({ draft, set, errors }: PartProps) => (
  <Card title="Form">
    <div className="grid gap-5">
      <TextField
        label="Name"
        value={draft.name}
        onChange={(event) => set({ name: event.target.value })}
        maxLength={200}
        required
        autoComplete="off"
        error={findFieldError(errors, 'name')}
      />
      <Toggle
        label="Accept submissions"
        hint="When off, visitors see that the form is closed. Stored submissions stay."
        checked={draft.enabled}
        onChange={(event) => set({ enabled: event.target.checked })}
      />
      <ListField
        label="Required fields"
        hint="The names of fields that must not be empty. Press Enter to add a name."
        placeholder="email"
        value={draft.requiredFields}
        onChange={(requiredFields) => set({ requiredFields })}
        error={findFieldError(errors, 'requiredFields')}
      />
    </div>
  </Card>
)

const AfterSending = ({ draft, set, errors, formKey }: PartProps & { formKey: string }) => (
  <Card title="What senders see">
    <div className="grid gap-6">
      <p className="text-soft">
        With the snippet, senders stay on your page and see the messages there. The rest is for browsers where
        the snippet does not run, and for pages without it.
      </p>
      <TextField
        label="Success message"
        value={draft.successMessage ?? ''}
        onChange={(event) => set({ successMessage: event.target.value || null })}
        placeholder="Thank you!"
        maxLength={1000}
        hint="The snippet and the thank-you page show it."
        error={findFieldError(errors, 'successMessage')}
      />
      <div className="grid gap-2" data-page-url>
        <PageUrlInput draft={draft} set={set} errors={errors} />
        {draft.pageUrl === null && (
          <PageSuggestion formKey={formKey} choose={(pageUrl) => set({ pageUrl })} />
        )}
      </div>
      <AfterSendingChoice draft={draft} set={set} errors={errors} />
      <OnErrorChoice draft={draft} set={set} />
      <ListField
        label="Hosts for _next"
        hint="A field named _next in the form goes before the choice above. It can lead to these hosts only, for example example.com. Leave empty to allow all hosts."
        placeholder="example.com"
        value={draft.nextHosts}
        onChange={(nextHosts) => set({ nextHosts })}
        error={findFieldError(errors, 'nextHosts')}
      />
    </div>
  </Card>
)

/** Offers the page that the newest submissions name. */
function PageSuggestion({ formKey, choose }: { formKey: string; choose: (pageUrl: string) => void }) {
  const page = usePageSuggestion({ formKey })
  if (!page) return null
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-soft">
      <span className="min-w-0 break-all">The newest submissions came from {page}.</span>
      <Button
        size="small"
        onClick={(event) => {
          // The button goes with its sentence: the focus moves to the field that has the page now.
          event.currentTarget.closest('[data-page-url]')?.querySelector('input')?.focus()
          choose(page)
        }}
      >
        Use this page
      </Button>
    </p>
  )
}

const SpamProtection = ({ draft, set, errors }: PartProps) => (
  <Card title="Spam protection">
    <div className="grid gap-5">
      <Toggle
        label="Captcha"
        hint="Keeps bots out. Needs the snippet on the page. People rarely notice it."
        checked={draft.captcha}
        onChange={(event) => set({ captcha: event.target.checked })}
      />
      <ListField
        label="Allowed sites"
        hint="For example https://example.com or https://*.example.com. Leave empty to allow all sites."
        placeholder="https://example.com"
        value={draft.allowedOrigins}
        onChange={(allowedOrigins) => set({ allowedOrigins })}
        error={findFieldError(errors, 'allowedOrigins')}
      />
    </div>
  </Card>
)
