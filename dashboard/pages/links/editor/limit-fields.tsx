// The fields for a link's schedule, its limits and its expiration URL.

import { CollapsibleSection } from '../../../ui/collapsible-section.tsx'
import { formatCount, formatTime } from '../../../ui/format.ts'
import { CODE_INPUT } from '../../../ui/forms/control-class.ts'
import { DateTimeField } from '../../../ui/forms/date-time-field.tsx'
import { formatExample, TextField } from '../../../ui/forms/field.tsx'
import type { LinkFieldsProps } from './field-props.ts'
import type { LinkDraft } from './link-draft.ts'

const FIELDS = ['startsAt', 'expiresAt', 'expiredUrl', 'clickLimit', 'leadLimit'] as const

export function describeLimits({ startsAt, expiresAt, clickLimit, leadLimit }: LinkDraft): string {
  const time = (local: string) => formatTime(new Date(local).toISOString())
  return [
    startsAt && `starts ${time(startsAt)}`,
    expiresAt && `expires ${time(expiresAt)}`,
    clickLimit && formatCount(Number(clickLimit), 'click'),
    leadLimit && formatCount(Number(leadLimit), 'lead'),
  ]
    .filter(Boolean)
    .join(', ')
}

export function LimitFields({ draft, errors, onChange, summary }: LinkFieldsProps & { summary: string }) {
  return (
    <CollapsibleSection
      title="Schedule and limits"
      summary={summary || (draft.expiredUrl && 'expiration URL')}
      hasError={FIELDS.some((name) => errors[name])}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <DateTimeField
          label="Starts"
          placeholder="Immediately"
          value={draft.startsAt}
          error={errors.startsAt}
          onChange={(startsAt) => onChange({ startsAt })}
        />
        <DateTimeField
          label="Expires"
          placeholder="Never"
          min={draft.startsAt || undefined}
          value={draft.expiresAt}
          error={errors.expiresAt}
          onChange={(expiresAt) => onChange({ expiresAt })}
        />
        <TextField
          label="Click limit"
          type="number"
          inputMode="numeric"
          min={1}
          step={1}
          placeholder="No limit"
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
          placeholder="No limit"
          value={draft.leadLimit}
          error={errors.leadLimit}
          onChange={({ target }) => onChange({ leadLimit: target.value })}
        />
      </div>
      <p className="text-sm text-soft">Clicks by bots don’t count toward the limits.</p>
      <TextField
        label="Expiration URL"
        hint="Visitors go there after the link has expired. Leave empty to show them the page “Link expired”."
        inputMode="url"
        {...CODE_INPUT}
        placeholder={formatExample('https://example.com/waiting-list')}
        value={draft.expiredUrl}
        error={errors.expiredUrl}
        onChange={({ target }) => onChange({ expiredUrl: target.value })}
      />
    </CollapsibleSection>
  )
}
