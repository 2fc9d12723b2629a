// The settings of a form. What was typed stays until it is saved or taken back, also when one looks at another tab.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { ApiError } from '../../api/client.ts'
import { formQuery, updateForm } from '../../api/forms.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { TextField, Toggle } from '../../ui/forms/field.tsx'
import { FormError, findFieldError } from '../../ui/forms/form-error.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { Card } from '../../ui/page.tsx'
import { ChannelChoice } from './channel-choice.tsx'
import { DangerZone } from './danger-zone.tsx'
import { ListField } from './list-field.tsx'

const SETTING_NAMES = [
  'name',
  'enabled',
  'requiredFields',
  'redirectUrl',
  'captcha',
  'successMessage',
  'allowedOrigins',
  'channelIds',
] as const
type FormDraft = Pick<FormResource, (typeof SETTING_NAMES)[number]>

/** What was begun and not saved, by form, as long as the page lives. */
const unsavedChanges = new Map<string, Partial<FormDraft>>()

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

export default function FormSettingsTab({ form }: { form: FormResource }) {
  const api = useApi()
  const client = useQueryClient()
  const [changed, setChanged] = useState<Partial<FormDraft>>(() => unsavedChanges.get(form.formKey) ?? {})
  const keep = (next: Partial<FormDraft>) => {
    unsavedChanges.set(form.formKey, next)
    setChanged(next)
  }
  const draft: FormDraft = { ...form, ...changed }
  const changes = Object.fromEntries(
    SETTING_NAMES.filter((name) => !same(draft[name], form[name])).map((name) => [name, draft[name]]),
  ) as Partial<FormDraft>
  const isChanged = Object.keys(changes).length > 0
  const save = useMutation({
    mutationFn: () => updateForm(api, form.formKey, changes),
    onSuccess(saved) {
      client.setQueryData(formQuery(api, form.formKey).queryKey, saved)
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms', 'list'] })
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms', 'names'] })
      keep({})
      toast('Settings saved')
    },
    onError() {},
  })
  const errors = save.error instanceof ApiError ? save.error.errors : {}
  const set = (part: Partial<FormDraft>) => keep({ ...changed, ...part })
  return (
    <form
      noValidate
      className="grid max-w-3xl gap-5"
      onSubmit={(event) => {
        event.preventDefault()
        if (isChanged) save.mutate()
      }}
    >
      {save.error && Object.keys(errors).length === 0 && <FormError>{save.error.message}</FormError>}
      <Basics draft={draft} set={set} errors={errors} />
      <AfterSending draft={draft} set={set} errors={errors} />
      <WhoMaySend draft={draft} set={set} errors={errors} />
      <Card title="Who is told">
        <ChannelChoice
          chosen={draft.channelIds}
          onChange={(channelIds) => set({ channelIds })}
          error={findFieldError(errors, 'channelIds')}
        />
      </Card>
      <SaveBar
        isChanged={isChanged}
        busy={save.isPending}
        wrong={Object.keys(errors).length}
        discard={() => {
          keep({})
          save.reset()
        }}
      />
      <DangerZone form={form} />
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
        label="Takes submissions"
        hint="Switched off, visitors are told that the form is closed. What came stays."
        checked={draft.enabled}
        onChange={(event) => set({ enabled: event.target.checked })}
      />
      <ListField
        label="Required fields"
        hint="Names of fields that must not be empty. Enter adds one."
        placeholder="email"
        value={draft.requiredFields}
        onChange={(requiredFields) => set({ requiredFields })}
        error={findFieldError(errors, 'requiredFields')}
      />
    </div>
  </Card>
)

const AfterSending = ({ draft, set, errors }: PartProps) => (
  <Card title="After sending">
    <div className="grid gap-5">
      <TextField
        label="Success message"
        value={draft.successMessage ?? ''}
        onChange={(event) => set({ successMessage: event.target.value || null })}
        placeholder="Thank you!"
        maxLength={1000}
        hint="Shown by the snippet in place, on the page with the form."
        error={findFieldError(errors, 'successMessage')}
      />
      <TextField
        label="Redirect after sending"
        type="url"
        inputMode="url"
        value={draft.redirectUrl ?? ''}
        onChange={(event) => set({ redirectUrl: event.target.value.trim() || null })}
        placeholder="https://example.com/thanks"
        maxLength={2048}
        hint="Where a browser without JavaScript goes. Empty: back to where it came from."
        error={findFieldError(errors, 'redirectUrl')}
      />
    </div>
  </Card>
)

const WhoMaySend = ({ draft, set, errors }: PartProps) => (
  <Card title="Who may send">
    <div className="grid gap-5">
      <Toggle
        label="Captcha"
        hint="Keeps robots out. Needs the snippet on the page; people rarely notice it."
        checked={draft.captcha}
        onChange={(event) => set({ captcha: event.target.checked })}
      />
      <ListField
        label="Allowed sites"
        hint="Such as https://example.com or https://*.example.com. Empty: any site may post."
        placeholder="https://example.com"
        value={draft.allowedOrigins}
        onChange={(allowedOrigins) => set({ allowedOrigins })}
        error={findFieldError(errors, 'allowedOrigins')}
      />
    </div>
  </Card>
)

/** Stays in sight while there is something to save. */
function SaveBar(props: { isChanged: boolean; busy: boolean; wrong: number; discard: () => void }) {
  const { isChanged, busy, wrong, discard } = props
  return (
    <div
      className={classNames(
        'flex flex-wrap items-center gap-2 rounded-2xl border border-line bg-card px-4 py-3 sm:px-5',
        isChanged && 'sticky bottom-3 z-10 shadow-lg',
      )}
    >
      <p role="status" className={`min-w-0 flex-1 text-sm ${wrong > 0 ? 'text-danger' : 'text-soft'}`}>
        {wrong > 0
          ? 'Not saved: see what is marked above.'
          : isChanged
            ? 'There are changes that are not saved.'
            : 'All is saved.'}
      </p>
      <Button disabled={!isChanged || busy} onClick={discard}>
        Discard
      </Button>
      <Button type="submit" look="primary" disabled={!isChanged} busy={busy}>
        Save
      </Button>
    </div>
  )
}
