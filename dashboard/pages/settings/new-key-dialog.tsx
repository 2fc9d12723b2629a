// The dialog that creates an API key with its scopes and its expiry, and then shows the key once.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { toFieldErrors } from '../../api/client.ts'
import { createKey, keysQuery } from '../../api/workspace.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { CopyableText } from '../../ui/copy/copyable-text.tsx'
import { OneTimeSecretDialog } from '../../ui/copy/one-time-secret-dialog.tsx'
import { DateTimeField } from '../../ui/forms/date-time-field.tsx'
import { Checkbox, formatExample, SelectField, TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { FormError, findFieldError } from '../../ui/forms/form-error.tsx'
import { type KeyScope, NAMED_SCOPES, READ_SCOPES, SCOPE_LABELS } from './key-scopes.ts'

const ACCESS = { full: 'Full access', read: 'Read only', custom: 'Custom' } as const
type Access = keyof typeof ACCESS

const EXPIRY_DAYS = [30, 90, 365]
const DAY_MS = 24 * 60 * 60 * 1000

const toScopes = (access: Access, custom: typeof NAMED_SCOPES): readonly KeyScope[] =>
  access === 'full' ? ['*'] : access === 'read' ? READ_SCOPES : custom

/** @param day `2027-01-31` in the local time zone; the key works through this day */
const toEndOfDay = (day: string) => new Date(`${day}T23:59:59.999`).toISOString()

interface KeyDraft {
  name: string
  access: Access
  custom: typeof NAMED_SCOPES
  /** '' is never, `day` is the end of `day`, and a number is a number of days. */
  expiry: string
  day: string
}

function toKeyInput({ name, access, custom, expiry, day }: KeyDraft) {
  const days = Number(expiry)
  const inDays = days > 0 ? new Date(Date.now() + days * DAY_MS).toISOString() : null
  const expiresAt = expiry === 'day' && day ? toEndOfDay(day) : inDays
  return { name: name.trim(), scopes: toScopes(access, custom), expiresAt }
}

export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const [draft, setDraft] = useState<KeyDraft>({ name: '', access: 'full', custom: [], expiry: '', day: '' })
  const create = useMutation({
    mutationFn: () => createKey(api, toKeyInput(draft)),
    onSuccess: () => client.invalidateQueries({ queryKey: keysQuery(api).queryKey }),
    onError() {},
  })
  if (create.data) return <NewKeySecret apiKey={create.data.key} onClose={onClose} />
  return (
    <FormDialog
      onClose={onClose}
      title="New API key"
      action="Create key"
      busy={create.isPending}
      className="grid gap-5"
      onSubmit={() => create.mutate()}
    >
      <KeyFields
        draft={draft}
        set={(part) => setDraft({ ...draft, ...part })}
        errors={toFieldErrors(create.error, ['name', 'scopes', 'expiresAt'])}
      />
    </FormDialog>
  )
}

function KeyFields({
  draft: { name, access, custom, expiry, day },
  set,
  errors,
}: {
  draft: KeyDraft
  set: (part: Partial<KeyDraft>) => void
  errors: Record<string, string>
}) {
  return (
    <>
      {errors.general && <FormError>{errors.general}</FormError>}
      <TextField
        label="Name"
        placeholder={formatExample('Website')}
        hint="What the key is for, so you know later which one to revoke."
        required
        autoFocus
        maxLength={100}
        value={name}
        onChange={(event) => set({ name: event.target.value })}
        error={errors.name}
      />
      <SelectField
        label="Access"
        error={findFieldError(errors, 'scopes')}
        value={access}
        onChange={({ target }) => set({ access: target.value as Access })}
        options={Object.entries(ACCESS)}
      />
      {access === 'custom' && <ScopeChoice scopes={custom} onChange={(scopes) => set({ custom: scopes })} />}
      <SelectField
        label="Expires"
        error={errors.expiresAt}
        value={expiry}
        onChange={({ target }) => set({ expiry: target.value })}
      >
        <option value="">Never</option>
        {EXPIRY_DAYS.map((days) => (
          <option key={days} value={days}>
            In {days} days
          </option>
        ))}
        <option value="day">On a date</option>
      </SelectField>
      {expiry === 'day' && (
        <DateTimeField
          label="Last day"
          type="date"
          required
          value={day}
          onChange={(next) => set({ day: next })}
        />
      )}
    </>
  )
}

function ScopeChoice({
  scopes,
  onChange,
}: {
  scopes: typeof NAMED_SCOPES
  onChange: (scopes: typeof NAMED_SCOPES) => void
}) {
  return (
    <fieldset className="grid gap-2">
      <legend className="sr-only">Scopes</legend>
      {NAMED_SCOPES.map((scope) => (
        <ScopeBox
          key={scope}
          scope={scope}
          checked={scopes.includes(scope)}
          onChange={(on) => onChange(on ? [...scopes, scope] : scopes.filter((other) => other !== scope))}
        />
      ))}
      <p className="text-sm text-soft">
        Deleting a form also deletes its submissions, so it needs forms:write and submissions:write. Channels
        decide where submissions are sent: give channels:write only to programs that may read submissions.
      </p>
    </fieldset>
  )
}

function ScopeBox({
  scope,
  checked,
  onChange,
}: {
  scope: keyof typeof SCOPE_LABELS
  checked: boolean
  onChange: (on: boolean) => void
}) {
  const id = useId()
  return (
    <div className="flex items-start gap-2.5">
      <Checkbox
        id={id}
        className="mt-1 shrink-0"
        checked={checked}
        onChange={({ target }) => onChange(target.checked)}
      />
      <label htmlFor={id} className="min-w-0">
        {SCOPE_LABELS[scope]} <code className="block text-sm text-soft">{scope}</code>
      </label>
    </div>
  )
}

function NewKeySecret({ apiKey, onClose }: { apiKey: string; onClose: () => void }) {
  const example = `curl ${location.origin}/v1/workspace -H 'Authorization: Bearer ${apiKey}'`
  return (
    <OneTimeSecretDialog title="Your new API key" text={apiKey} label="Copy key" onClose={onClose}>
      <p className="mt-4 mb-1.5 text-sm text-soft">Try it:</p>
      <CopyableText text={example} label="Copy example" />
    </OneTimeSecretDialog>
  )
}
