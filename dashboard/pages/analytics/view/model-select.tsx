// Which touch of a lead gets the credit. It is decided when somebody asks, and so it can be changed here.

import { Select } from '../../../ui/forms/field.tsx'
import { ATTRIBUTION_MODEL_LABELS } from './dimensions.ts'
import type { AnalyticsView } from './use-analytics-view.ts'

export const ModelSelect = ({
  view: { model, set },
  className,
}: {
  view: AnalyticsView
  className: string
}) => (
  <Select
    aria-label="Which touch of a lead counts"
    className={className}
    value={model}
    onChange={(event) => set({ model: event.target.value === 'last' ? undefined : event.target.value })}
  >
    {Object.entries(ATTRIBUTION_MODEL_LABELS).map(([value, name]) => (
      <option key={value} value={value}>
        {name}
      </option>
    ))}
  </Select>
)
