// A menu of the workspace's channels, with an option for all of them.

import { useQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { channelsQuery } from '../../api/channels.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Select } from '../../ui/forms/field.tsx'

export function ChannelSelect(props: ComponentProps<typeof Select>) {
  const channels = useQuery(channelsQuery(useApi()))
  return (
    <Select {...props}>
      <option value="">All channels</option>
      {channels.data?.data.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  )
}
