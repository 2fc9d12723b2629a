// The query parameters that the workspace keeps of its clicks, as dimensions.

import { useQuery } from '@tanstack/react-query'
import { workspaceQuery } from '../../../api/workspace.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { type Dimension, toParamDimension } from './dimensions.ts'

const MINUTE_MS = 60_000

/** Empty until the workspace has loaded. */
export function useParamDimensions(): Dimension[] {
  const { data } = useQuery({ ...workspaceQuery(useApi()), staleTime: MINUTE_MS })
  return (data?.keptParams ?? []).map(toParamDimension)
}
