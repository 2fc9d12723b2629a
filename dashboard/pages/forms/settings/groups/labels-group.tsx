// The labels of fields, which the team reads in the inbox and in notifications in place of field names.

import { Input } from '../../../../ui/forms/field.tsx'
import { toReadableName } from '../../../inbox/state/readable-name.ts'
import type { GroupProps } from '../form-draft.ts'
import { SettingsGroup } from '../settings-group.tsx'
import { useFieldNames } from './use-field-names.ts'

const LABEL_MAX = 200

export function LabelsGroup({ form, draft, set, errors }: GroupProps) {
  const { fieldLabels } = draft
  const names = [...new Set([...Object.keys(fieldLabels), ...useFieldNames(form, draft)])]
  const change = (name: string, label: string) => {
    const others = Object.fromEntries(Object.entries(fieldLabels).filter(([each]) => each !== name))
    set({ fieldLabels: label.trim() === '' ? others : { ...fieldLabels, [name]: label } })
  }
  return (
    <SettingsGroup id="labels" error={errors.fieldLabels}>
      <p className="text-sm text-soft">
        Your team sees these in the inbox and in notifications. The page check fills them in from your page.
        Exports and webhooks keep the field names.
      </p>
      <ul className="grid gap-2">
        {names.map((name) => {
          const error = errors[`fieldLabels.${name}`]
          return (
            <li key={name} className="grid items-center gap-x-3 gap-y-1 sm:grid-cols-[12rem_minmax(0,1fr)]">
              <code id={`label-name-${name}`} className="truncate text-sm" title={name}>
                {name}
              </code>
              <Input
                aria-labelledby={`label-name-${name}`}
                aria-invalid={error !== undefined}
                value={fieldLabels[name] ?? ''}
                maxLength={LABEL_MAX}
                placeholder={toReadableName(name)}
                autoComplete="off"
                onChange={({ target }) => change(name, target.value)}
              />
              {error && <p className="text-sm text-danger sm:col-start-2">{error}</p>}
            </li>
          )
        })}
      </ul>
    </SettingsGroup>
  )
}
