#!/usr/bin/env bash
# Builds the guest from packages of Debian, without installing anything on this machine: a kernel, an initramfs and a
# root image, in the folder that README.md names. Does nothing when they are up to date.
#   build.sh            build
#   build.sh --check    only say whether there is something to build: status 1
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
cache="${FLASHSTACK_GUEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/flashstack/linux-guest}"
packages="bash busybox-static coreutils e2fsprogs f2fs-tools kmod libpython3-stdlib mount python3-minimal util-linux"
# What the root image can load, with all that it depends on, and what it takes to reach the root image.
modules="9p 9pnet_virtio crc32c-intel crc32c_generic ext4 f2fs loop virtio_blk virtio_pci"
early="virtio_pci virtio_blk crc32c_generic ext4"
# Only maintainer scripts would need them, and none is run.
unneeded='^(adduser|debconf|dpkg|init-system-helpers|libperl|perl|usrmerge)'

want="$(cat "$here/build.sh" "$here"/boot/* | sha256sum)"
if [ -f "$cache/stamp" ] && [ "$(cat "$cache/stamp")" = "$want" ]; then exit 0; fi
[ "${1:-}" = --check ] && exit 1
for tool in apt-get dpkg-deb gzip mkfs.ext4 od xz; do
  command -v "$tool" >/dev/null || { echo "build.sh: $tool is missing on this machine" >&2; exit 3; }
done
mkdir -p "$cache/archives/partial" "$cache/none/partial"
root="$cache/root" kernel="$cache/kernel" early_root="$cache/initramfs"
rm -rf "$root" "$kernel" "$early_root" "$cache/stamp"
mkdir -p "$root" "$kernel"

echo "guest: download"
: >"$cache/no-packages"
apt=(-o "Dir::State::status=$cache/no-packages" -o "Dir::Cache::archives=$cache/archives" -o APT::Sandbox::User=root -o Debug::NoLocking=1)
image="$(apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends:/ { print $2; exit }')"
[ -n "$image" ] || { echo "build.sh: no linux-image-amd64 in the package lists: apt-get update" >&2; exit 3; }
# An empty folder of archives, so that those already here are listed too.
files="$(apt-get install -y --no-install-recommends --print-uris "${apt[@]}" -o "Dir::Cache::archives=$cache/none" $packages 2>/dev/null |
  awk '/^\x27/ { print $2 }')"
[ -n "$files" ] || { echo "build.sh: apt cannot find $packages: apt-get update" >&2; exit 3; }
apt-get install -y -q --no-install-recommends --download-only "${apt[@]}" $packages >"$cache/apt.log" 2>&1 ||
  { tail -n 5 "$cache/apt.log" >&2; exit 3; }
(cd "$cache/archives" && { ls "$image"_*.deb >/dev/null 2>&1 || apt-get download -q "$image" >>"$cache/apt.log" 2>&1; }) ||
  { tail -n 5 "$cache/apt.log" >&2; exit 3; }

echo "guest: root folder"
for file in $files; do
  [[ "$file" =~ $unneeded ]] || dpkg-deb -x "$cache/archives/$file" "$root"
done
dpkg-deb -x "$cache/archives/${image}"_*.deb "$kernel"
for folder in bin sbin lib lib64; do # one tree below /usr, as installed systems have it
  if [ -d "$root/$folder" ] && [ ! -L "$root/$folder" ]; then
    mkdir -p "$root/usr/$folder"
    cp -a "$root/$folder/." "$root/usr/$folder/"
    rm -rf "${root:?}/$folder"
  fi
  [ -e "$root/$folder" ] || ln -s "usr/$folder" "$root/$folder"
done
rm -rf "$root"/usr/share "$root"/usr/lib/systemd "$root"/usr/lib/x86_64-linux-gnu/{gconv,perl-base} "$root"/var "$root"/etc
mkdir -p "$root"/{control,dev,etc,mnt,proc,root,run,share,sys,tmp,var} "$root/usr/local/bin"
for applet in $("$root/bin/busybox" --list); do # every command that no package has brought
  [ -e "$root/usr/bin/$applet" ] || [ -e "$root/usr/sbin/$applet" ] || ln -sf /bin/busybox "$root/usr/local/bin/$applet"
done
ln -sfn /proc/mounts "$root/etc/mtab"
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo 'root:x:0:' >"$root/etc/group"
[ -e "$root/usr/bin/sh" ] || ln -s bash "$root/usr/bin/sh"
install -m 755 "$here/boot/guest-init" "$root/usr/sbin/guest-init"

echo "guest: modules"
version="$(ls "$kernel/lib/modules")"
linker=("$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu")
# Files of modules and of what they depend on, in the order in which they are loaded.
needed() {
  for module in "$@"; do
    "${linker[@]}" --argv0 modprobe "$root/bin/kmod" -d "$kernel" -S "$version" --show-depends "$module"
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}
"${linker[@]}" --argv0 depmod "$root/bin/kmod" -b "$kernel" "$version"
for file in $(needed $modules); do
  target="$root/usr/${file#"$kernel"/}"
  mkdir -p "$(dirname "$target")"
  cp "$file" "$target"
done
cp "$kernel/lib/modules/$version"/modules.{builtin,builtin.modinfo,order} "$root/usr/lib/modules/$version/"
"${linker[@]}" --argv0 depmod "$root/bin/kmod" -b "$root" "$version"

echo "guest: kernel, initramfs and root image"
# Unpacked here once: an emulated processor would need seconds for it at each boot. Offsets are those of Linux's x86 boot protocol.
compressed="$kernel/boot/vmlinuz-$version"
number() { od -An -t"u$2" -j "$1" -N "$2" "$compressed" | tr -d ' '; }
start=$((($(number 497 1) + 1) * 512 + $(number 584 4)))
length=$(($(number 588 4) - 4)) # the last four bytes are the unpacked length
dd if="$compressed" of="$kernel/vmlinux.xz" bs=64K skip="$start" count="$length" iflag=skip_bytes,count_bytes status=none
xz -dc --single-stream <"$kernel/vmlinux.xz" >"$cache/vmlinux"
mkdir -p "$early_root"/{bin,modules,proc,sys,dev,newroot}
cp "$root/bin/busybox" "$early_root/bin/busybox"
for file in $(needed $early); do
  cp "$file" "$early_root/modules/"
  basename "$file" >>"$early_root/modules/order"
done
install -m 755 "$here/boot/initramfs-init" "$early_root/init"
(cd "$early_root" && find . | ./bin/busybox cpio -o -H newc 2>/dev/null | gzip -1 >"$cache/initrd.gz")
rm -f "$cache/root.img"
truncate -s "$(($(du -sm "$root" | cut -f1) * 11 / 10 + 32))M" "$cache/root.img"
mkfs.ext4 -q -F -O ^has_journal,^resize_inode,^metadata_csum -E nodiscard,lazy_itable_init=0 -m 0 -N 20000 -d "$root" "$cache/root.img"
rm -rf "$early_root" "$kernel" "$root"
echo "$version" >"$cache/kernel-version"
echo "$want" >"$cache/stamp"
echo "guest: Linux $version in $cache"
