// What the application uses of preact.js, for the TypeScript compiler only. Elements are checked at run time, by Preact.

export type VNode = { type: unknown; props: Record<string, unknown>; key: unknown };
export type Children = unknown;
export type Ref<T> = { current: T };

export function html(strings: TemplateStringsArray, ...values: unknown[]): VNode;
export function h(type: unknown, props: Record<string, unknown> | null, ...children: Children[]): VNode;
export function render(node: VNode, parent: Element): void;

export class Component<P = {}, S = {}> {
  constructor(props?: P);
  props: P;
  state: S;
  setState(change: Partial<S>): void;
  componentDidCatch?(error: Error): void;
  render(props: P, state: S): Children;
}

export type Context<T> = { Provider: (props: { value: T; children?: Children }) => VNode };
export function createContext<T>(value: T): Context<T>;
export function useContext<T>(context: Context<T>): T;

export function useState<T>(initial: T | (() => T)): [T, (next: T | ((before: T) => T)) => void];
export function useReducer<S, A>(reduce: (state: S, action: A) => S, initial: S): [S, (action: A) => void];
export function useEffect(effect: () => void | (() => void), inputs?: unknown[]): void;
export function useLayoutEffect(effect: () => void | (() => void), inputs?: unknown[]): void;
export function useRef<T>(initial: T): Ref<T>;
export function useMemo<T>(make: () => T, inputs: unknown[]): T;
export function useCallback<F extends Function>(callback: F, inputs: unknown[]): F;
export function useErrorBoundary(callback?: (error: unknown) => void): [unknown, () => void];
