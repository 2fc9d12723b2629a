// The fields for the alert of a view: which number, how unusual, in which hours, and to which channels.

import { SelectField } from '../../../ui/forms/field.tsx'
import { NumberField } from '../../forms/settings/controls/number-field.tsx'
import { ChannelChoice } from '../../forms/settings/groups/channel-choice.tsx'
import type { AlertDraft, ViewDraft } from './view-draft.ts'

const WHEN = [
  ['', 'No alerts'],
  ['above', 'When there are more than usual'],
  ['below', 'When there are fewer than usual'],
  ['silent', 'When a new link gets no clicks'],
] as const
const METRICS = [
  ['clicks', 'Clicks'],
  ['visitors', 'Visitors'],
  ['leads', 'Leads'],
] as const
const WINDOWS = [
  ['1h', 'The last hour'],
  ['6h', 'The last 6 hours'],
  ['24h', 'The last 24 hours'],
] as const
const FIRST_HOURS = [
  ['1h', 'Its first hour'],
  ['6h', 'Its first 6 hours'],
  ['24h', 'Its first 24 hours'],
] as const

interface AlertFieldsProps {
  draft: AlertDraft
  change: (patch: Partial<ViewDraft>) => void
  errors: Record<string, string>
}

export function AlertFields({ draft, change, errors }: AlertFieldsProps) {
  const set = (patch: Partial<AlertDraft>) => change({ alert: { ...draft, ...patch } })
  const choice = <Name extends 'when' | 'metric' | 'window'>(
    label: string,
    name: Name,
    options: readonly (readonly [AlertDraft[Name], string])[],
  ) => (
    <SelectField
      label={label}
      error={errors[`alert.${name}`]}
      value={draft[name]}
      onChange={({ target }) => set({ [name]: target.value } as Partial<AlertDraft>)}
      options={options}
    />
  )
  const isSilent = draft.when === 'silent'
  return (
    <>
      {choice('Alerts', 'when', WHEN)}
      {draft.when !== '' && (
        <>
          {isSilent ? (
            choice('In', 'window', FIRST_HOURS)
          ) : (
            <>
              {choice('Count', 'metric', METRICS)}
              {choice('In', 'window', WINDOWS)}
              <DifferenceFields draft={draft} set={set} errors={errors} />
            </>
          )}
          <ChannelChoice
            selected={draft.channelIds}
            onChange={(channelIds) => set({ channelIds })}
            error={errors['alert.channelIds']}
          />
        </>
      )}
    </>
  )
}

interface DifferenceFieldsProps {
  draft: AlertDraft
  set: (patch: Partial<AlertDraft>) => void
  errors: Record<string, string>
}

function DifferenceFields({ draft, set, errors }: DifferenceFieldsProps) {
  return (
    <>
      <NumberField
        label="Difference"
        hint="From the mean of the same hours in the four weeks before. At most two alerts a day."
        unit="%"
        required
        min={1}
        max={draft.when === 'below' ? 100 : 100_000}
        value={draft.percent}
        error={errors['alert.percent']}
        onChange={(percent) => set({ percent: percent ?? 1 })}
      />
      <NumberField
        label="Minimum"
        hint={
          draft.when === 'below'
            ? 'No alert where the mean is lower.'
            : 'No alert where the hours have fewer.'
        }
        required
        min={1}
        max={1_000_000_000}
        value={draft.minimum}
        error={errors['alert.minimum']}
        onChange={(minimum) => set({ minimum: minimum ?? 1 })}
      />
    </>
  )
}
