// The fields for the reports of a view: how often, when, and to which channels.

import { SelectField, TextField } from '../../../ui/forms/field.tsx'
import { ChannelChoice } from '../../forms/settings/groups/channel-choice.tsx'
import type { ViewDraft } from './view-draft.ts'

const EVERY = [
  ['', 'No reports'],
  ['day', 'Every day, about the day before'],
  ['week', 'Every Monday, about the week before'],
  ['month', 'On the 1st, about the month before'],
] as const

interface ReportFieldsProps {
  draft: ViewDraft
  change: (patch: Partial<ViewDraft>) => void
  errors: Record<string, string>
}

export function ReportFields({ draft, change, errors }: ReportFieldsProps) {
  return (
    <>
      <SelectField
        label="Reports"
        error={errors['report.every']}
        value={draft.every}
        onChange={({ target }) => change({ every: target.value as ViewDraft['every'] })}
        options={EVERY}
      />
      {draft.every !== '' && (
        <>
          <TextField
            label="Time"
            type="time"
            required
            hint="In the time zone of the view."
            value={draft.at}
            error={errors['report.at']}
            onChange={({ target }) => change({ at: target.value.slice(0, 5) })}
          />
          <ChannelChoice
            selected={draft.channelIds}
            onChange={(channelIds) => change({ channelIds })}
            error={errors['report.channelIds']}
          />
        </>
      )}
    </>
  )
}
