/* SPDX-License-Identifier: MIT */
/*
 * What vinci-ascendc makes of a launch. `kernel<<<dim, l2ctrl, stream>>>(args)` becomes
 * `(VINCI_LAUNCH(kernel)(dim, l2ctrl, stream))(args)`: the arguments convert to the kernel's parameters as in any
 * call and go into slots (vinci/kernel.h), the value is the launch's error code.
 */
#ifndef VINCI_ASCENDC_LAUNCH_H
#define VINCI_ASCENDC_LAUNCH_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "block.h"
#include "buffer.h"
#include "copy.h"
#include "print.h"
#include "vector.h"
#include "vinci/kernel.h"

namespace vinci_ascendc __attribute__((visibility("hidden"))) {

/* A block that faulted on this thread before has not come through leave_block(): its last words go out here. */
inline void enter_block(const struct vinci_block *block)
{
	printer.finish();
	ub.release();
	::block_idx = block->index;
	::block_num = block->count;
	block_running = true;
	vector_mask[0] = vector_mask[1] = ~uint64_t{0};
	mask_counts = false;
	atomic.kind = atomic_kind::none;
}

inline void leave_block()
{
	block_running = false;
	::block_idx = 0;
	::block_num = 1;
	printer.finish();
	ub.release();
}

constexpr size_t slot_size(size_t bytes)
{
	return (bytes + VINCI_KERNEL_SLOT - 1) / VINCI_KERNEL_SLOT * VINCI_KERNEL_SLOT;
}

/* An argument out of its slots, whatever its alignment and whether or not it has a default constructor. */
template <typename T> T load_arg(const void *args, size_t offset)
{
	union holder {
		unsigned char raw[sizeof(T)];
		T value;
		holder() : raw{}
		{
		}
	} h;

	std::memcpy(static_cast<void *>(&h), static_cast<const unsigned char *>(args) + offset, sizeof(T));
	return h.value;
}

template <typename... P> struct layout {
	static constexpr size_t size = (slot_size(sizeof(P)) + ... + 0);

	struct table {
		size_t at[sizeof...(P) + 1];
	};

	static constexpr table make()
	{
		const size_t sizes[sizeof...(P) + 1] = {slot_size(sizeof(P))..., 0};
		table t = {};

		for (size_t i = 0; i < sizeof...(P); i++)
			t.at[i + 1] = t.at[i] + sizes[i];
		return t;
	}

	static constexpr table offsets = make();

	struct descriptions {
		struct vinci_param of[sizeof...(P) + 1];
	};

	static constexpr descriptions describe()
	{
		const uint32_t sizes[sizeof...(P) + 1] = {static_cast<uint32_t>(sizeof(P))..., 0};
		descriptions d = {};

		for (size_t i = 0; i < sizeof...(P); i++)
			d.of[i] = {static_cast<uint32_t>(offsets.at[i]), sizes[i]};
		return d;
	}

	static constexpr descriptions params = describe();
};

template <typename F> struct signature;

template <typename... P> struct signature<void (*)(P...)> {
	static_assert(((!std::is_reference_v<P> && std::is_trivially_copyable_v<P>) && ...),
		      "the parameters of a kernel are values that can be copied byte by byte");

	using slots = layout<P...>;
	static constexpr uint32_t count = sizeof...(P);

	static_assert(slots::size <= VINCI_KERNEL_ARGS_MAX, "the arguments of a kernel are limited to 8192 bytes");

	template <auto K> static void run(const void *args, const struct vinci_block *block) noexcept
	{
		enter_block(block);
		call<K>(args, std::index_sequence_for<P...>{});
		leave_block();
	}

	template <auto K, size_t... I>
	static void call([[maybe_unused]] const void *args, std::index_sequence<I...>)
	{
		K(load_arg<P>(args, slots::offsets.at[I])...);
	}

	/* A launch whose configuration is known and whose arguments are not yet. */
	struct configured {
		const struct vinci_kernel *kernel;
		uint32_t block_dim;
		void *stream;

		uint32_t operator()(P... values) const
		{
			alignas(VINCI_KERNEL_SLOT) unsigned char args[slots::size + VINCI_KERNEL_SLOT] = {};

			store(args, std::index_sequence_for<P...>{}, values...);
			return vinciLaunchKernel(kernel, block_dim, stream, args, slots::size);
		}

		template <size_t... I>
		static void store([[maybe_unused]] unsigned char *args, std::index_sequence<I...>, const P &...values)
		{
			(std::memcpy(args + slots::offsets.at[I], &values, sizeof(P)), ...);
		}
	};
};

template <typename... P> struct signature<void (*)(P...) noexcept> : signature<void (*)(P...)> {
};

/* unit_flags is final before any ordinary initialiser runs: see print.h. */
template <auto K> struct vinci_kernel describe(const char *name, uint32_t flags)
{
	using sig = signature<decltype(K)>;

	return {VINCI_KERNEL_ABI,
		flags | VINCI_KERNEL_PARAMS,
		name,
		&sig::template run<K>,
		static_cast<uint32_t>(sig::slots::size),
		sig::count,
		sig::slots::params.of};
}

/* A number of blocks that does not fit is 0, which the launch refuses, rather than what is left of it. */
template <typename T> uint32_t to_block_dim(T dim)
{
	static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "blockDim is a number");
	int64_t wide = static_cast<int64_t>(dim);

	return wide > 0 && wide <= static_cast<int64_t>(UINT32_MAX) ? static_cast<uint32_t>(wide) : 0;
}

/* In an unnamed namespace because the flags are those of the translation unit that launches. */
namespace {

template <auto K> struct launcher {
	const char *name;

	/* l2ctrl is reserved for the card's cache: nullptr, or a size of dynamic buffer that has no use here. */
	template <typename D, typename L> auto operator()(D block_dim, L l2ctrl, void *stream) const
	{
		static_assert(std::is_null_pointer_v<L> || std::is_pointer_v<L> || std::is_integral_v<L>,
			      "l2ctrl is nullptr or a size");
		static const struct vinci_kernel kernel = describe<K>(name, unit_flags);

		(void)l2ctrl;
		return typename signature<decltype(K)>::configured{&kernel, to_block_dim(block_dim), stream};
	}
};

} // namespace
} // namespace vinci_ascendc

namespace vinci_ascendc __attribute__((visibility("hidden"))) {

/* What aclrtlaunch_<kernel>() gets for a pointer of whatever type. */
struct any_pointer {
	void *value;

	template <typename T> operator T *() const
	{
		return static_cast<T *>(value);
	}
};

} // namespace vinci_ascendc

/* A macro, so that a kernel which is itself the parameter of a macro is named by what it stands for. */
#define VINCI_LAUNCH(...) (::vinci_ascendc::launcher<&__VA_ARGS__>{#__VA_ARGS__})

/* Behind each extern "C" kernel: makes it findable by name in a loaded object. */
#define VINCI_KERNEL_EXPORT(kernel) \
	extern "C" { \
	__attribute__((visibility("default"))) extern const struct vinci_kernel vinci_kernel_##kernel; \
	__attribute__((used)) const struct vinci_kernel vinci_kernel_##kernel = \
		::vinci_ascendc::describe<&kernel>(#kernel, ::vinci_ascendc::unit_flags); \
	} \
	VINCI_KERNEL_SYMBOL(kernel)

namespace vinci_ascendc __attribute__((visibility("hidden"))) {

/* A variable or a function of the program, known for as long as its object is loaded. */
struct symbol {
	struct vinci_symbol of;

	symbol(const volatile void *address, size_t size, const char *name, const struct vinci_kernel *kernel)
		: of{const_cast<const void *>(address), size, name, kernel, nullptr, -1, 0}
	{
		vinciRegisterSymbol(&of);
	}
	~symbol()
	{
		vinciUnregisterSymbol(&of);
	}
	symbol(const symbol &) = delete;
	symbol &operator=(const symbol &) = delete;
};

template <auto K> struct kernel_symbol {
	struct vinci_kernel kernel;
	symbol known;

	kernel_symbol(const char *name, uint32_t flags)
		: kernel(describe<K>(name, flags)), known(reinterpret_cast<const void *>(K), 0, name, &kernel)
	{
	}
};

} // namespace vinci_ascendc

/*
 * Behind each kernel and each variable in global memory: lets the program look them up by address. Not in what
 * aclrtBinaryLoadFromFile loads: there is no address to know, and the ACL library may be out of reach.
 */
#ifdef VINCI_ASCENDC_FATBIN
#define VINCI_KERNEL_SYMBOL(kernel)
#define VINCI_VARIABLE_SYMBOL(variable)
#else
#define VINCI_KERNEL_SYMBOL(kernel) \
	namespace { \
	const ::vinci_ascendc::kernel_symbol<&kernel> vinci_symbol_##kernel(#kernel, ::vinci_ascendc::unit_flags); \
	}
#define VINCI_VARIABLE_SYMBOL(variable) \
	namespace { \
	const ::vinci_ascendc::symbol vinci_symbol_##variable(&variable, sizeof(variable), #variable, nullptr); \
	}
#endif

#endif /* VINCI_ASCENDC_LAUNCH_H */
