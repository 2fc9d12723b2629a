// The name of a form, and whether it accepts submissions.

import { TextField, Toggle } from '../../../../ui/forms/field.tsx'
import { findFieldError } from '../../../../ui/forms/form-error.tsx'
import type { GroupProps } from '../form-draft.ts'
import { SettingsGroup } from '../settings-group.tsx'

export const BasicsGroup = ({ draft, set, errors }: GroupProps) => (
  <SettingsGroup id="form">
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
  </SettingsGroup>
)
