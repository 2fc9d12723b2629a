// The schedule of a channel's messages: at once or as a digest, and quiet hours.

import { useMemo } from 'react'
import { CollapsibleSection } from '../../../ui/collapsible-section.tsx'
import { viewerZone } from '../../../ui/format.ts'
import { Field, Select, SelectField, TextField, Toggle } from '../../../ui/forms/field.tsx'
import { FormError, findFieldError } from '../../../ui/forms/form-error.tsx'
import { listTimeZones } from '../../../ui/forms/time-zones.ts'
import type { ChannelFormValues } from './channel-values.ts'

type QuietHours = NonNullable<ChannelFormValues['quietHours']>

const DIGEST_LABELS = { hour: 'Every hour', day: 'Every day' } as const
const AT_ONCE = 'At once'
const NEW_QUIET_HOURS: QuietHours = { start: '22:00', end: '07:00', timezone: viewerZone }

const summarize = ({ digest, quietHours }: ChannelFormValues) =>
  [
    digest ? DIGEST_LABELS[digest] : AT_ONCE,
    quietHours && `not from ${quietHours.start} to ${quietHours.end}`,
  ]
    .filter(Boolean)
    .join(', ')

interface TimingFieldsProps {
  values: ChannelFormValues
  errors: Record<string, string>
  onChange: (values: ChannelFormValues) => void
}

export function TimingFields({ values, errors, onChange }: TimingFieldsProps) {
  const { digest, quietHours } = values
  return (
    <CollapsibleSection
      title="When they are sent"
      summary={summarize(values)}
      hasError={['digest', 'quietHours'].some((name) => findFieldError(errors, name))}
    >
      <Field
        label="Messages"
        hint={
          digest === 'day'
            ? 'One message a day with all submissions, at 08:00 in the time zone of the quiet hours (without them, UTC).'
            : digest && 'One message an hour with all submissions of that hour.'
        }
        error={findFieldError(errors, 'digest')}
      >
        {(control) => (
          <Select
            {...control}
            className="max-w-52"
            value={digest ?? ''}
            onChange={(event) =>
              onChange({ ...values, digest: (event.target.value || null) as ChannelFormValues['digest'] })
            }
            options={Object.entries(DIGEST_LABELS)}
          >
            <option value="">{AT_ONCE}</option>
          </Select>
        )}
      </Field>
      <Toggle
        label="Quiet hours"
        hint="Messages wait until quiet hours end."
        checked={quietHours !== null}
        onChange={(event) =>
          onChange({ ...values, quietHours: event.target.checked ? NEW_QUIET_HOURS : null })
        }
      />
      {errors.quietHours && <FormError>{errors.quietHours}</FormError>}
      {quietHours && (
        <QuietHoursFields
          quietHours={quietHours}
          errors={errors}
          change={(part) => onChange({ ...values, quietHours: { ...quietHours, ...part } })}
        />
      )}
    </CollapsibleSection>
  )
}

function QuietHoursFields({
  quietHours,
  errors,
  change,
}: {
  quietHours: QuietHours
  errors: Record<string, string>
  change: (part: Partial<QuietHours>) => void
}) {
  const zones = useMemo(() => [...new Set([quietHours.timezone, ...listTimeZones()])], [quietHours.timezone])
  return (
    <div className="grid grid-cols-2 gap-4 sm:grid-cols-[8rem_8rem_minmax(0,1fr)]">
      <TextField
        label="From"
        type="time"
        required
        value={quietHours.start}
        onChange={(event) => change({ start: event.target.value })}
        error={errors['quietHours.start']}
      />
      <TextField
        label="To"
        type="time"
        required
        value={quietHours.end}
        onChange={(event) => change({ end: event.target.value })}
        error={errors['quietHours.end']}
      />
      <SelectField
        label="Time zone"
        className="col-span-2 grid-cols-[minmax(0,1fr)] sm:col-span-1"
        error={errors['quietHours.timezone']}
        value={quietHours.timezone}
        onChange={(event) => change({ timezone: event.target.value })}
      >
        {zones.map((zone) => (
          <option key={zone}>{zone}</option>
        ))}
      </SelectField>
    </div>
  )
}
