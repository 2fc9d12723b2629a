// Which touch of a lead gets the credit. It is decided when somebody asks, and so it can be changed here.

import { Select } from '../../ui/field.tsx'
import { MODELS } from './dimensions.ts'
import type { View } from './use-view.ts'

export const ModelSelect = ({ view: { model, set }, className }: { view: View; className: string }) => (
  <Select
    aria-label="Which touch of a lead counts"
    className={className}
    value={model}
    onChange={(event) => set({ model: event.target.value === 'last' ? undefined : event.target.value })}
  >
    {Object.entries(MODELS).map(([value, name]) => (
      <option key={value} value={value}>
        {name}
      </option>
    ))}
  </Select>
)
