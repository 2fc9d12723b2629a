// When a link answers, how often, and what comes after.

import { formatTime, viewerZone } from '../../../ui/format.ts'
import { TextField } from '../../../ui/forms/field.tsx'
import { CollapsibleSection } from './collapsible-section.tsx'
import type { LinkFieldsProps } from './field-props.ts'
import type { LinkDraft } from './link-draft.ts'

const FIELDS = ['startsAt', 'expiresAt', 'expiredUrl', 'clickLimit', 'leadLimit'] as const

export function describeLimits({ startsAt, expiresAt, clickLimit, leadLimit }: LinkDraft): string {
  const time = (local: string) => formatTime(new Date(local).toISOString())
  return [
    startsAt && `from ${time(startsAt)}`,
    expiresAt && `until ${time(expiresAt)}`,
    clickLimit && `${clickLimit} clicks`,
    leadLimit && `${leadLimit} leads`,
  ]
    .filter(Boolean)
    .join(', ')
}

export function LimitFields({ draft, errors, onChange, set }: LinkFieldsProps & { set: string }) {
  return (
    <CollapsibleSection
      title="Schedule and limits"
      set={set || (draft.expiredUrl && 'what comes after')}
      wrong={FIELDS.some((name) => errors[name])}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Answers from"
          type="datetime-local"
          className="grid-cols-1"
          value={draft.startsAt}
          error={errors.startsAt}
          onChange={({ target }) => onChange({ startsAt: target.value })}
        />
        <TextField
          label="Answers until"
          type="datetime-local"
          className="grid-cols-1"
          min={draft.startsAt || undefined}
          value={draft.expiresAt}
          error={errors.expiresAt}
          onChange={({ target }) => onChange({ expiresAt: target.value })}
        />
        <TextField
          label="Click limit"
          type="number"
          inputMode="numeric"
          min={1}
          step={1}
          placeholder="none"
          value={draft.clickLimit}
          error={errors.clickLimit}
          onChange={({ target }) => onChange({ clickLimit: target.value })}
        />
        <TextField
          label="Lead limit"
          type="number"
          inputMode="numeric"
          min={1}
          step={1}
          placeholder="none"
          value={draft.leadLimit}
          error={errors.leadLimit}
          onChange={({ target }) => onChange({ leadLimit: target.value })}
        />
      </div>
      <p className="text-sm text-soft">
        Times are in your zone, {viewerZone}. Clicks of robots use up no limit.
      </p>
      <TextField
        label="Afterwards to"
        hint="Left empty, visitors see a page that says the link has ended."
        inputMode="url"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="https://example.com/waiting-list"
        value={draft.expiredUrl}
        error={errors.expiredUrl}
        onChange={({ target }) => onChange({ expiredUrl: target.value })}
      />
    </CollapsibleSection>
  )
}
