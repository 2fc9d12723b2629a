// The retention of a form's submissions, with a warning about submissions that a change erases.

import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { submissionCountQuery } from '../../../../api/submissions.ts'
import { useApi } from '../../../../shell/use-workspace.ts'
import { formatCount } from '../../../../ui/format.ts'
import { ChoiceField } from '../controls/choice-field.tsx'
import { NumberField } from '../controls/number-field.tsx'
import type { GroupProps } from '../form-draft.ts'
import { SettingsGroup } from '../settings-group.tsx'

const DAY_MS = 86_400_000
const FIRST_DAYS = 365

export function RetentionGroup({ form, draft, set, errors }: GroupProps) {
  const days = draft.retentionDays
  return (
    <SettingsGroup id="keep">
      <ChoiceField
        legend="Submissions"
        value={days === null ? 'always' : 'days'}
        onChange={(choice) => set({ retentionDays: choice === 'always' ? null : FIRST_DAYS })}
        choices={[
          { value: 'always', label: 'Keep until deleted', hint: 'Spam has its own retention.' },
          {
            value: 'days',
            label: 'Erase automatically',
            hint: 'A submission is erased with its files, its attribution and the records of its notifications. Nobody can undo this.',
            details: (
              <div className="grid gap-2">
                <NumberField
                  label="Retention period"
                  unit="days"
                  min={1}
                  max={3650}
                  value={days}
                  required
                  onChange={(retentionDays) => set({ retentionDays })}
                  error={errors.retentionDays}
                />
                {days !== null && days !== form.retentionDays && (
                  <OldSubmissions formKey={form.formKey} days={days} />
                )}
              </div>
            ),
          },
        ]}
      />
    </SettingsGroup>
  )
}

/** The number of stored submissions that the change erases. */
function OldSubmissions({ formKey, days }: { formKey: string; days: number }) {
  const end = useMemo(() => new Date(Date.now() - days * DAY_MS).toISOString(), [days])
  const { data: count } = useQuery(submissionCountQuery(useApi(), { formKey, status: 'all', end }))
  if (!count) return null
  return (
    <p role="status" className="rounded-lg border border-warn bg-warn-tint px-3 py-2 text-sm">
      {formatCount(count, 'stored submission')} of this form {count === 1 ? 'is' : 'are'} older, and will be
      erased within an hour after you save.
    </p>
  )
}
